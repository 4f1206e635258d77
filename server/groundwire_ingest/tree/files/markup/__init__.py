"""Markup: HTML and its templates, components of Vue, Svelte and Astro, Razor and Blazor."""

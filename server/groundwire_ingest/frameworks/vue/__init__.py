"""Components of Vue, Svelte and Astro."""

from groundwire_ingest.frameworks.framework import ComponentForm, Framework
from groundwire_ingest.frameworks.vue.scripts import script_code, script_file

VUE = Framework(
    languages="typescript javascript", components=ComponentForm(".vue .svelte .astro", script_file, script_code)
)

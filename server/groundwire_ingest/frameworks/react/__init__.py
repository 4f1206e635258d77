"""Pages: the routers of React, Vue and Angular, and the files of Next.js and SvelteKit."""

from groundwire_ingest.frameworks.framework import Framework
from groundwire_ingest.frameworks.react.pages import pages

REACT = Framework(languages="typescript javascript", finders=(pages,), looks_at="object export_statement")

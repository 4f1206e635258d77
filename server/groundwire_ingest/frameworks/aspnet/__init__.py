"""ASP.NET Core, with Razor."""

from groundwire_ingest.frameworks.aspnet.razor import SHARED, razor_code, razor_file
from groundwire_ingest.frameworks.aspnet.razor_files import read_razor
from groundwire_ingest.frameworks.aspnet.routes import routes
from groundwire_ingest.frameworks.framework import ComponentForm, Framework

ASPNET = Framework(
    languages="csharp",
    finders=(routes,),
    components=ComponentForm("razor", ".razor .cshtml", read_razor, razor_file, razor_code, SHARED),
)

"""C#, with ASP.NET Core and Entity Framework."""

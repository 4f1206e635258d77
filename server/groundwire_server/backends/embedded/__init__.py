"""The embedded backend: indexes on local disk, mapped into the server's memory."""

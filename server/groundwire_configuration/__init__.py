"""What people write to configure Groundwire, read strictly: YAML files, and the names of model services."""

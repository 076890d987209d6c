"""What operators watch: whether it is ready (health, probe), the log, and the numbers that Prometheus reads."""

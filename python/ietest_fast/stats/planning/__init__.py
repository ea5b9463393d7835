"""What tests will show before the data are there: power, sizes, simulations."""

"""What tests of several adapters share."""

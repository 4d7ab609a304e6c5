"""Tests of how a release is made; `make dist-tests` runs them with the debug program as a stand-in."""

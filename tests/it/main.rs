//! End-to-end tests: the built program against real files, archives and a local server.

mod architecture;

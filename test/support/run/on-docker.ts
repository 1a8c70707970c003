// The tests of the project "docker" run their pods on Docker, unless TEST_RUNTIME names another runtime.
process.env["TEST_RUNTIME"] ??= "docker";

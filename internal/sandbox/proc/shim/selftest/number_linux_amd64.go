package selftest

const sysSetns = 308

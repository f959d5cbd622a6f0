package attempt

const sysSetns = 308

package versus

import "golang.org/x/sys/unix"

const statCall = unix.SYS_NEWFSTATAT

//go:build unix

package shim

import (
	"io"
	"strconv"
	"strings"
	"syscall"

	"adze/internal/sandbox/proc/shim/namespace"
)

// maxSpec limits a spec in bytes. Linux refuses more than 6 MiB of arguments and environment
// together.
const maxSpec = 8 << 20

// SpecError is the reason why a spec cannot be sent or read.
type SpecError string

func (e SpecError) Error() string { return "command cannot be started: " + string(e) }

const errMalformed = SpecError("malformed request")

// Encode returns the wire form: a length, then fields that each end in NUL.
func (s Spec) Encode() ([]byte, error) {
	fields := []string{
		s.Path, s.Dir, flag(s.Linger),
		strconv.Itoa(len(s.Argv)), strconv.Itoa(len(s.Env)),
	}
	fields = append(append(append(fields, s.Argv...), s.Env...), s.Box.Fields()...)
	out := make([]byte, 4, 4096)
	for _, f := range fields {
		if strings.IndexByte(f, 0) >= 0 {
			return nil, SpecError("an argument or variable holds a NUL byte; leave it out")
		}
		out = append(append(out, f...), 0)
	}
	if len(s.Argv) == 0 {
		return nil, SpecError("no program given")
	}
	if len(out)-4 > maxSpec {
		return nil, SpecError("arguments and environment take " + strconv.Itoa(len(out)-4) + " bytes")
	}
	n := len(out) - 4
	out[0], out[1], out[2], out[3] = byte(n), byte(n>>8), byte(n>>16), byte(n>>24)
	return out, nil
}

func flag(set bool) string {
	if set {
		return "1"
	}
	return "0"
}

const specFields = 5

// Decode parses Encode's result without the length.
func Decode(p []byte) (Spec, error) {
	fields := strings.Split(string(p), "\x00")
	fields = fields[:len(fields)-1] // each field ends in NUL, so the last part is empty
	if len(fields) < specFields {
		return Spec{}, errMalformed
	}
	argc, err := strconv.Atoi(fields[3])
	envc, err2 := strconv.Atoi(fields[4])
	rest := fields[specFields:]
	if err != nil || err2 != nil || argc < 1 || envc < 0 || argc > len(rest) || envc > len(rest)-argc {
		return Spec{}, errMalformed
	}
	s := Spec{Path: fields[0], Dir: fields[1], Linger: fields[2] == "1", Argv: rest[:argc], Env: rest[argc : argc+envc]}
	var ok bool
	if s.Box, ok = namespace.Parse(rest[argc+envc:]); !ok {
		return Spec{}, errMalformed
	}
	return s, nil
}

// fdReader reads a descriptor without the poller of package os, which would cost an epoll set.
type fdReader int

func (f fdReader) Read(p []byte) (int, error) {
	for {
		n, err := syscall.Read(int(f), p)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return 0, err
		case n == 0:
			return 0, io.EOF
		default:
			return n, nil
		}
	}
}

func readSpec(fd int) (Spec, error) {
	var size [4]byte
	if _, err := io.ReadFull(fdReader(fd), size[:]); err != nil {
		return Spec{}, err
	}
	n := int(size[0]) | int(size[1])<<8 | int(size[2])<<16 | int(size[3])<<24
	if n > maxSpec {
		return Spec{}, errMalformed
	}
	p := make([]byte, n)
	if _, err := io.ReadFull(fdReader(fd), p); err != nil {
		return Spec{}, err
	}
	return Decode(p)
}

package shim

import (
	"io"
	"syscall"
)

// order is a command that came over the lifeline.
type order struct {
	spec  Spec
	under *supervisor
	begun chan struct{} // closed when it runs
}

// serve runs a command and then those that come over the lifeline, one at a time, for as long as
// each leaves nothing behind. To start this program anew takes as much as most commands. Nothing
// goes from one command to the next: what belongs to a command, its folder, environment and
// streams, is set in its own process or comes with it, and walls are never built in a shim that
// stays.
func serve(spec Spec) int {
	next := make(chan order)
	now := order{spec: spec, under: newSupervisor()}
	watch := func() { go listen(now.under, next) }
	for {
		exit, stays := now.under.run(now.spec, watch)
		if !stays {
			return exit
		}
		var more bool
		if now, more = <-next; !more {
			return 0
		}
		watch = func() { close(now.begun) }
	}
}

// listen takes commands from the lifeline until it closes; then it ends what runs. It reads on only
// when the command before runs, so that a sweep finds it.
func listen(s *supervisor, next chan<- order) {
	for {
		spec, err := receive(lifelineFD)
		if err != nil {
			s.sweep() // which finds nothing where the command has ended
			close(next)
			return
		}
		o := order{spec: spec, under: newSupervisor(), begun: make(chan struct{})}
		s = o.under
		next <- o
		<-o.begun
	}
}

// receive reads a spec, and the standard streams of its command into their places. They came with
// its first bytes (unix(7)).
func receive(fd int) (Spec, error) {
	var size [4]byte
	rights := make([]byte, syscall.CmsgSpace(streams*4))
	n, got, err := 0, 0, syscall.EINTR
	for err == syscall.EINTR {
		var e error
		n, got, _, _, e = syscall.Recvmsg(fd, size[:], rights, syscall.MSG_CMSG_CLOEXEC)
		err, _ = e.(syscall.Errno)
	}
	if err != 0 || n == 0 {
		return Spec{}, io.EOF
	}
	if _, err := io.ReadFull(fdReader(fd), size[n:]); err != nil {
		return Spec{}, err
	}
	if !place(rights[:got]) {
		return Spec{}, errMalformed
	}
	return readBody(fd, size)
}

// streams is how many descriptors come with a command.
const streams = 3

func place(rights []byte) bool {
	messages, err := syscall.ParseSocketControlMessage(rights)
	if err != nil || len(messages) != 1 {
		return false
	}
	files, err := syscall.ParseUnixRights(&messages[0])
	if err != nil || len(files) != streams {
		return false
	}
	for i, f := range files {
		if syscall.Dup3(f, i, syscall.O_CLOEXEC) != nil {
			return false
		}
		_ = syscall.Close(f)
	}
	return true
}

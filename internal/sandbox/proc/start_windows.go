package proc

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"

	"adze/internal/sandbox/proc/shim"
)

// launch starts the command in a job. There is no shim here: the kernel ends all processes of a job
// with its last handle, held only by this process. The command starts suspended and runs only
// inside its job, so that nothing escapes.
func (p *Process) launch(ctx context.Context, spec shim.Spec, ledger *Ledger) error {
	if w := p.confinement; !w.Box.Empty() || w.Argv != nil || w.Sys != nil || len(w.Files) > 0 || w.OnStart != nil {
		return failure(CodeSandbox, "the command was not run, because this system has no sandbox that could hold it")
	}
	theirs, err := p.openPipes()
	defer closeAll(theirs)
	if err != nil {
		return &Error{CodeIO, err}
	}
	name := jobPrefix + UniqueTag("")
	j, err := newJob(name)
	if err != nil {
		return failure(CodeIO, "cannot make a job for the command: %w", err)
	}
	j.forget = ledger.record(name)
	p.started = time.Now()
	child, err := start(spec, theirs)
	if err != nil {
		j.close()
		return startError(p.cmd.Argv[0], err)
	}
	j.root = child.id
	p.link = link{job: j, events: make(chan shim.Event, 8)}
	if err := windows.AssignProcessToJobObject(j.handle, child.process); err != nil {
		child.kill()
		return failure(CodeIO, "cannot put the command into its job: %w", err)
	}
	p.pid = int(child.id)
	p.guard(ctx)
	if err := child.resume(); err != nil {
		j.end()
		child.close()
		return failure(CodeIO, "cannot let the command run: %w", err)
	}
	closeAll(theirs)
	go p.link.supervise(child, spec.Linger)
	return nil
}

func startError(program string, err error) error {
	var own *Error
	switch {
	case errors.As(err, &own):
		return own
	case errors.Is(err, os.ErrNotExist):
		return failure(CodeNotFound, "cannot run %s: %w", program, err)
	}
	return failure(CodeIO, "cannot run %s: %w", program, err)
}

type link struct {
	job    *jobObject
	events chan shim.Event // closed after the last one
}

// hangUp ends everything in the job.
func (l *link) hangUp() { l.kill() }

func (l *link) kill() {
	if l.job != nil {
		l.job.end()
	}
}

// awaitKilled ends the rest.
func (l *link) awaitKilled() { l.kill() }

// supervisorPID returns this process, as there is no shim.
func (l *link) supervisorPID() int { return os.Getpid() }

func (l *link) close() {
	if l.job != nil {
		l.job.close()
	}
}

// awaitNamespace does nothing here.
func (p *Process) awaitNamespace() {}

func (p *Process) nextEvent() (shim.Event, error) {
	e, more := <-p.events
	if !more {
		return e, errGone
	}
	return e, nil
}

var errGone = errors.New("the command is gone")

// openPipes makes the command's standard streams and returns the command's ends.
func (p *Process) openPipes() (theirs []*os.File, err error) {
	theirs = make([]*os.File, 3)
	if p.cmd.Input == nil && p.cmd.Talk == nil {
		theirs[0], err = os.Open(os.DevNull)
	} else {
		p.inPipe, theirs[0], err = pipe(windows.PIPE_ACCESS_OUTBOUND, windows.GENERIC_READ)
	}
	if err != nil {
		return theirs, err
	}
	if p.outPipe, theirs[1], err = pipe(windows.PIPE_ACCESS_INBOUND, windows.GENERIC_WRITE); err != nil {
		return theirs, err
	}
	theirs[2] = theirs[1]
	if p.cmd.Separate {
		p.errPipe, theirs[2], err = pipe(windows.PIPE_ACCESS_INBOUND, windows.GENERIC_WRITE)
	}
	return theirs, err
}

type child struct {
	process, thread windows.Handle
	id              uint32
}

func (c *child) resume() error {
	_, err := windows.ResumeThread(c.thread)
	return err
}

func (c *child) kill() {
	_ = windows.TerminateProcess(c.process, 1)
	c.close()
}

func (c *child) close() {
	_ = windows.CloseHandle(c.thread)
	_ = windows.CloseHandle(c.process)
}

// start creates the process, suspended, without a window, and with no handles except its three
// streams.
func start(spec shim.Spec, streams []*os.File) (*child, error) {
	line, err := commandLine(spec.Path, spec.Argv)
	if err != nil {
		return nil, err
	}
	program, err := windows.UTF16PtrFromString(spec.Path)
	if err != nil {
		return nil, err
	}
	words, err := windows.UTF16PtrFromString(line)
	if err != nil {
		return nil, err
	}
	dir, err := windows.UTF16PtrFromString(spec.Dir)
	if err != nil {
		return nil, err
	}
	env, err := environmentBlock(spec.Env)
	if err != nil {
		return nil, err
	}
	var std [3]windows.Handle
	var handed []windows.Handle
	for i, f := range streams {
		std[i] = windows.Handle(f.Fd())
		if slices.Contains(handed, std[i]) {
			continue
		}
		if err := windows.SetHandleInformation(std[i], windows.HANDLE_FLAG_INHERIT, windows.HANDLE_FLAG_INHERIT); err != nil {
			return nil, err
		}
		handed = append(handed, std[i])
	}
	attributes, err := windows.NewProcThreadAttributeList(1)
	if err != nil {
		return nil, err
	}
	defer attributes.Delete()
	if err := attributes.Update(windows.PROC_THREAD_ATTRIBUTE_HANDLE_LIST, unsafe.Pointer(&handed[0]), uintptr(len(handed))*unsafe.Sizeof(handed[0])); err != nil {
		return nil, err
	}
	info := windows.StartupInfoEx{ProcThreadAttributeList: attributes.List()}
	info.Cb = uint32(unsafe.Sizeof(info))
	info.Flags = windows.STARTF_USESTDHANDLES | windows.STARTF_USESHOWWINDOW
	info.ShowWindow = windows.SW_HIDE
	info.StdInput, info.StdOutput, info.StdErr = std[0], std[1], std[2]
	var made windows.ProcessInformation
	flags := uint32(windows.CREATE_SUSPENDED | windows.CREATE_NO_WINDOW | windows.CREATE_UNICODE_ENVIRONMENT | windows.EXTENDED_STARTUPINFO_PRESENT |
		windows.CREATE_NEW_PROCESS_GROUP)
	if err := windows.CreateProcess(program, words, nil, nil, true, flags, &env[0], dir, &info.StartupInfo, &made); err != nil {
		return nil, err
	}
	return &child{made.Process, made.Thread, made.ProcessId}, nil
}

// commandLine joins arguments so that most programs parse them back. Batch files' interpreter
// parses differently and runs text after some characters as commands: these are refused.
func commandLine(path string, argv []string) (string, error) {
	ext := strings.ToLower(filepath.Ext(path))
	if ext == ".bat" || ext == ".cmd" {
		for _, word := range argv[1:] {
			if strings.ContainsAny(word, "\"%!^&|<>()\r\n") {
				return "", failure(CodeInvalid, "%s is a batch file, and Windows would run a part of the argument %q as a command; run it through the shell", path, word)
			}
		}
	}
	if strings.EqualFold(filepath.Base(path), "cmd.exe") && len(argv) == 3 && strings.EqualFold(argv[1], "/c") {
		return `cmd.exe /d /s /c "` + argv[2] + `"`, nil // everything between the outer quotes is taken literally
	}
	return windows.ComposeCommandLine(argv), nil
}

// environmentBlock encodes env for CreateProcess: sorted, without names that differ only in case,
// and with the variables required by Windows.
func environmentBlock(env []string) ([]uint16, error) {
	last := map[string]string{}
	for _, kv := range env {
		name, _, ok := strings.Cut(kv, "=")
		if ok && name != "" {
			last[variable(name)] = kv
		}
	}
	for _, name := range []string{"SYSTEMROOT"} {
		if _, ok := last[name]; !ok {
			last[name] = name + "=" + os.Getenv(name)
		}
	}
	var block []uint16
	for _, name := range slices.Sorted(maps.Keys(last)) {
		text, err := windows.UTF16FromString(last[name])
		if err != nil {
			return nil, failure(CodeInvalid, "command cannot be started: a variable holds a NUL byte; leave it out")
		}
		block = append(block, text...)
	}
	return append(block, 0), nil
}

// pipe makes a pipe whose near end supports deadlines, unlike those of os.Pipe here.
func pipe(direction, access uint32) (near, far *os.File, err error) {
	name := fmt.Sprintf(`\\.\pipe\adze-%d-%s`, os.Getpid(), UniqueTag(""))
	at, err := windows.UTF16PtrFromString(name)
	if err != nil {
		return nil, nil, err
	}
	h, err := windows.CreateNamedPipe(at, direction|windows.FILE_FLAG_OVERLAPPED|windows.FILE_FLAG_FIRST_PIPE_INSTANCE,
		windows.PIPE_TYPE_BYTE|windows.PIPE_REJECT_REMOTE_CLIENTS, 1, chunkSize, chunkSize, 0, nil)
	if err != nil {
		return nil, nil, os.NewSyscallError("CreateNamedPipe", err)
	}
	other, err := windows.CreateFile(at, access, 0, nil, windows.OPEN_EXISTING, 0, 0)
	if err != nil {
		_ = windows.CloseHandle(h)
		return nil, nil, os.NewSyscallError("CreateFile", err)
	}
	return os.NewFile(uintptr(h), "pipe"), os.NewFile(uintptr(other), "pipe"), nil
}

// left reads a pipe's buffered data after the deadline without waiting.
func left(from *os.File, take func([]byte)) {
	buf := make([]byte, chunkSize)
	for range maxLeft {
		var size uint32
		raw, err := from.SyscallConn()
		if err != nil {
			return
		}
		_ = raw.Control(func(fd uintptr) { size = waiting(windows.Handle(fd)) })
		if size == 0 {
			return
		}
		_ = from.SetReadDeadline(time.Now().Add(drainTime)) // the data is already there
		n, err := from.Read(buf)
		take(buf[:n])
		if err != nil {
			return
		}
	}
}

const maxLeft = 16

var peekNamedPipe = sync.OnceValue(func() *windows.LazyProc { return windows.NewLazySystemDLL("kernel32.dll").NewProc("PeekNamedPipe") })

func waiting(h windows.Handle) (size uint32) {
	ok, _, _ := peekNamedPipe().Call(uintptr(h), 0, 0, 0, uintptr(unsafe.Pointer(&size)), 0)
	if ok == 0 {
		return 0
	}
	return size
}

// SignalName returns a signal's usual name. Windows has no signals; an ended command counts as
// killed.
func SignalName(s syscall.Signal) string {
	if s == syscall.SIGKILL {
		return "SIGKILL"
	}
	return s.String()
}

// CheckLimits does nothing on Windows.
func CheckLimits() error { return nil }

// Conceal does nothing: on Windows the user's other programs can read this process.
func Conceal() {}

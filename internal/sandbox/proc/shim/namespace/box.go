// Package namespace is what a shim builds around its command: mounts in namespaces of its own, a
// system call filter, Landlock rules, bounds on memory and processes.
//
// adze decides what the box is (internal/sandbox) and sends it with the command; the shim only
// carries it out, and reads back what it has built. A step that fails ends the shim before the
// command starts.
//
// The one rule: a box holds as it was ordered, or nothing runs in it.
//
// Start reading at Box, then Build (once for the process: mounts) and Confine (for the thread that
// starts the command: rights, filter, rules), both of Linux; elsewhere a box is empty.
//
// Rules of this package: those of package shim, which pays for each import with every command.
//
// Known limits: namespaces and mounts need Linux 5.12, the filter amd64 or arm64.
package namespace

import (
	"slices"
	"strconv"
	"strings"
)

// Box is what a shim builds. The zero value builds nothing.
type Box struct {
	Own    bool    // the shim stands in new namespaces and makes the mounts; else somebody has made them
	IDs    IDs     // the shim maps its own user and group, because nobody else did
	Mounts []Mount // in this order; read back also when they are not Own
	Filter Filter
	Rules  Rules

	// Door is a descriptor, of a socket, by which the shim hands out a listener at DoorAddress of its
	// network; if 0, none.
	Door int

	// Asks is a descriptor, of a socket, over which the shim asks about ports and sockets of this
	// machine that the command connects to (package seccomptrace); if 0, it does not.
	Asks int

	Memory    uint64 // bytes that all processes of the command may hold together; if 0, any
	Processes uint64 // of the command at a time; if 0, any
}

// DoorPort is where programs inside find the door, on 127.0.0.1: the one that proxies use by habit.
const DoorPort = 3128

// Empty reports that there is nothing to build.
func (b Box) Empty() bool {
	return !b.Own && len(b.Mounts) == 0 && b.Filter == NoFilter && b.Rules.none() && b.Door == 0
}

// Views reports that a view is among the mounts.
func (b Box) Views() bool {
	return slices.ContainsFunc(b.Mounts, func(m Mount) bool { return m.Kind == View || m.Kind == Handed })
}

// IDs are a user and a group as the outside sees them; inside new namespaces nothing tells them.
// Set: they are to be mapped.
type IDs struct {
	Set      bool
	UID, GID int
}

// Mount is one place in the file tree of the command. Everything that no mount names is the host's,
// read only.
type Mount struct {
	Kind Kind
	Path string // absolute and free of links; one that crosses a link is an error
	From string // of the host, likewise, for Writable, View and Kept; the target of a Link; of Handed a number
	// Upper is the folder of the host in which a View collects changes: in it are two empty
	// folders, "upper" and "work".
	Upper string
	// Dev and Ino are the folder that From must be, for Writable and View; both 0: any.
	Dev, Ino uint64
	Size     uint64 // bytes, for Private
}

// Kind says what is at the path of a mount.
type Kind byte

// The kinds of mounts.
const (
	Writable Kind = 'w' // the host's, writable
	View     Kind = 'v' // the host's through an overlay: what is changed lies in Upper, and the host's stays as it is
	Handed   Kind = 't' // a view that a holder has made: From is the descriptor of its mount
	Same     Kind = 's' // as around it, but a mount point, so that it cannot be renamed; it must exist
	Locked   Kind = 'l' // as around it, but read only; it must exist
	Empty    Kind = 'e' // an empty folder or file instead of what is there; nothing where nothing is
	Private  Kind = 'p' // an empty writable folder of its own, gone with the command
	Kept     Kind = 'k' // the host's, read only, also below a Private or Hollow one
	Hollow   Kind = 'h' // an empty folder, read only, with nothing in it but what later mounts put there
	Link     Kind = 'y' // a symbolic link to From, in a Hollow folder
	Devices  Kind = 'd' // the devices that every program needs, and terminals of its own
	Proc     Kind = 'c' // the processes of the command alone
)

// Filter says which sockets the system call filter leaves. What it closes beside them is told in
// filter_linux.go.
type Filter byte

// The filters.
const (
	NoFilter  Filter = 0
	OwnNet    Filter = 'n' // any of the internet's, because the network is the command's own
	NoSockets Filter = 'u' // none but pairs; modes, owners, times and attributes of files stay as they are, too
)

// Rules are those of Landlock: folders and files, with all that is below them. Nothing else can be
// opened.
type Rules struct {
	Read, Write []string // what is not there is left out of Read; of Write it is an error
	// Made is a descriptor of these rules as Make has made them; Read then need not be named. if 0,
	// they are made with the box.
	Made int
}

func (r Rules) none() bool { return len(r.Read) == 0 && len(r.Write) == 0 && r.Made == 0 }

// NoView begins the text of a fault when an overlay cannot be made.
const NoView = "private view of the workspace"

// Fault is a step that failed: what was tried, and the error of the system.
type Fault struct {
	Step string
	Err  error
}

func (f *Fault) Error() string { return f.Step + ": " + f.Err.Error() }
func (f *Fault) Unwrap() error { return f.Err }

// Fields is the wire form: texts without NUL, each begun by a letter that says what it is.
func (b Box) Fields() []string {
	var out []string
	flag := func(set bool, name string) {
		if set {
			out = append(out, name)
		}
	}
	flag(b.Own, "O")
	flag(b.IDs.Set, "I"+strconv.Itoa(b.IDs.UID)+" "+strconv.Itoa(b.IDs.GID))
	flag(b.Filter != NoFilter, "F"+string(rune(b.Filter)))
	flag(b.Door > 0, "D"+strconv.Itoa(b.Door))
	flag(b.Asks > 0, "A"+strconv.Itoa(b.Asks))
	flag(b.Memory > 0, "M"+number(b.Memory))
	flag(b.Processes > 0, "N"+number(b.Processes))
	flag(b.Rules.Made > 0, "L"+strconv.Itoa(b.Rules.Made))
	for _, p := range b.Rules.Read {
		out = append(out, "R"+p)
	}
	for _, p := range b.Rules.Write {
		out = append(out, "W"+p)
	}
	for _, m := range b.Mounts {
		out = append(out, string(rune(m.Kind))+number(m.Dev)+" "+number(m.Ino)+" "+number(m.Size)+" "+number(uint64(len(m.Path)))+" "+number(uint64(len(m.From)))+" "+m.Path+m.From+m.Upper)
	}
	return out
}

func number(n uint64) string { return strconv.FormatUint(n, 10) }

// Parse reads what Fields wrote.
func Parse(fields []string) (Box, bool) {
	var b Box
	for _, f := range fields {
		if f == "" || !b.take(f[0], f[1:]) {
			return Box{}, false
		}
	}
	return b, true
}

func (b *Box) take(letter byte, rest string) bool {
	var err error
	switch letter {
	case 'O':
		b.Own = true
	case 'I':
		uid, gid, ok := strings.Cut(rest, " ")
		if !ok {
			return false
		}
		b.IDs.Set = true
		if b.IDs.UID, err = strconv.Atoi(uid); err == nil {
			b.IDs.GID, err = strconv.Atoi(gid)
		}
	case 'F':
		if len(rest) != 1 {
			return false
		}
		b.Filter = Filter(rest[0])
	case 'D':
		b.Door, err = strconv.Atoi(rest)
	case 'A':
		b.Asks, err = strconv.Atoi(rest)
	case 'M':
		b.Memory, err = strconv.ParseUint(rest, 10, 64)
	case 'N':
		b.Processes, err = strconv.ParseUint(rest, 10, 64)
	case 'L':
		b.Rules.Made, err = strconv.Atoi(rest)
	case 'R':
		b.Rules.Read = append(b.Rules.Read, rest)
	case 'W':
		b.Rules.Write = append(b.Rules.Write, rest)
	default:
		return b.takeMount(Kind(letter), rest)
	}
	return err == nil
}

func (b *Box) takeMount(kind Kind, rest string) bool {
	parts := strings.SplitN(rest, " ", 6)
	if len(parts) != 6 || strings.IndexByte("wvtslepkdchy", byte(kind)) < 0 {
		return false
	}
	m := Mount{Kind: kind}
	text := parts[5]
	for i, to := range []*string{&m.Path, &m.From} {
		size, err := strconv.Atoi(parts[3+i])
		if err != nil || size < 0 || size > len(text) {
			return false
		}
		*to, text = text[:size], text[size:]
	}
	m.Upper = text
	for i, to := range []*uint64{&m.Dev, &m.Ino, &m.Size} {
		n, err := strconv.ParseUint(parts[i], 10, 64)
		if err != nil {
			return false
		}
		*to = n
	}
	b.Mounts = append(b.Mounts, m)
	return true
}

// Package namespace builds the sandbox inside a shim: mounts in own namespaces, a system call
// filter, Landlock rules, limits on memory and processes.
//
// adze plans the box (internal/sandbox) and sends it with the command; the shim builds it and reads
// the mounts back. A failed step ends the shim before the command starts.
//
// The one rule: a box is exactly as ordered, or nothing runs in it.
//
// Start reading at Box, then Build (once per process: mounts) and Confine (for the thread that
// starts the command: rights, filter, rules), both for Linux; elsewhere a box is empty.
//
// Rules of this package: those of package shim, because every command pays for each import.
//
// Known limits: namespaces and mounts need Linux 5.12, the filter amd64 or arm64.
package namespace

import (
	"slices"
	"strconv"
	"strings"
)

// Box describes a sandbox. The zero value builds nothing.
type Box struct {
	NewNamespaces bool    // the shim is in new namespaces and makes the mounts; else they exist already
	IDs           IDs     // mapped by the shim, unless its parent did it
	Mounts        []Mount // in this order; checked even if not NewNamespaces
	Filter        Filter
	Rules         Rules

	// Door is the descriptor of a socket for passing out a listener at DoorAddress in the shim's
	// network; 0 means none.
	Door int

	// Asks is the descriptor of a socket for requests about this machine's ports and sockets to
	// which the command connects (package seccomptrace); 0 means none.
	Asks int

	Memory    uint64 // bytes for all processes together; 0 means no limit
	Processes uint64 // at a time; 0 means no limit
}

// DoorPort is the proxy's port inside, on 127.0.0.1: the usual one for proxies.
const DoorPort = 3128

// Empty reports whether there is nothing to build.
func (b Box) Empty() bool {
	return !b.NewNamespaces && len(b.Mounts) == 0 && b.Filter == NoFilter && b.Rules.none() && b.Door == 0
}

// Views reports whether the mounts include a view.
func (b Box) Views() bool {
	return slices.ContainsFunc(b.Mounts, func(m Mount) bool { return m.Kind == View || m.Kind == Handed })
}

// IDs are a user and a group outside, which are not visible inside new namespaces. Set means that
// they should be mapped.
type IDs struct {
	Set      bool
	UID, GID int
}

// A Mount is one place in the command's file tree. Places without a mount are the host's, read
// only.
type Mount struct {
	Kind   Kind
	Path   string // absolute and free of links; a link is an error
	Source string // host path, likewise, for Writable, View and ReadOnly; target for Link; a number for Handed
	// Upper is the host folder for a View's changes, with two empty folders "upper" and "work".
	Upper string
	// Dev and Ino identify the folder at Source, for Writable and View; both 0 means any.
	Dev, Ino uint64
	Size     uint64 // bytes, for Private
}

// Kind is the kind of a mount.
type Kind byte

// Mount kinds.
const (
	Writable    Kind = 'w' // the host's, writable
	View        Kind = 'v' // the host's through an overlay: changes go to Upper, and the host's stays unchanged
	Handed      Kind = 't' // a view made by a holder: From is its mount's descriptor
	Same        Kind = 's' // unchanged, but a mount point that cannot be renamed; must exist
	Locked      Kind = 'l' // unchanged, but read only; must exist
	Empty       Kind = 'e' // an empty folder or file over an existing one; nothing if missing
	Private     Kind = 'p' // an empty writable folder, deleted with the command
	ReadOnly    Kind = 'k' // the host's, read only, also below a Private or EmptyFolder one
	EmptyFolder Kind = 'h' // an empty read-only folder for later mounts
	Link        Kind = 'y' // a symbolic link to Source, in a EmptyFolder folder
	Devices     Kind = 'd' // the usual devices, with separate terminals
	Proc        Kind = 'c' // the command's processes only
)

// Filter selects the sockets allowed by the system call filter. filter_linux.go describes its other
// restrictions.
type Filter byte

const (
	NoFilter  Filter = 0
	OwnNet    Filter = 'n' // all internet sockets, because the network is the command's own
	NoSockets Filter = 'u' // only pairs; changes of modes, owners, times and attributes are also refused
)

// Rules are Landlock rules: files and folders with their content. Nothing else can be opened.
type Rules struct {
	Read, Write []string // missing paths are skipped in Read and an error in Write
	// Descriptor is a descriptor of these rules from Make, which makes Read unnecessary; 0 means that
	// Confine makes them.
	Descriptor int
}

func (r Rules) none() bool { return len(r.Read) == 0 && len(r.Write) == 0 && r.Descriptor == 0 }

// NoView begins the text of a Fault if an overlay cannot be made.
const NoView = "private view of the workspace"

// A Fault is a failed step with its system error.
type Fault struct {
	Step string
	Err  error
}

func (f *Fault) Error() string { return f.Step + ": " + f.Err.Error() }
func (f *Fault) Unwrap() error { return f.Err }

// Fields returns the wire form: texts without NUL, each with a letter for its meaning.
func (b Box) Fields() []string {
	var out []string
	flag := func(set bool, name string) {
		if set {
			out = append(out, name)
		}
	}
	flag(b.NewNamespaces, "O")
	flag(b.IDs.Set, "I"+strconv.Itoa(b.IDs.UID)+" "+strconv.Itoa(b.IDs.GID))
	flag(b.Filter != NoFilter, "F"+string(rune(b.Filter)))
	flag(b.Door > 0, "D"+strconv.Itoa(b.Door))
	flag(b.Asks > 0, "A"+strconv.Itoa(b.Asks))
	flag(b.Memory > 0, "M"+number(b.Memory))
	flag(b.Processes > 0, "N"+number(b.Processes))
	flag(b.Rules.Descriptor > 0, "L"+strconv.Itoa(b.Rules.Descriptor))
	for _, p := range b.Rules.Read {
		out = append(out, "R"+p)
	}
	for _, p := range b.Rules.Write {
		out = append(out, "W"+p)
	}
	for _, m := range b.Mounts {
		out = append(out, string(rune(m.Kind))+number(m.Dev)+" "+number(m.Ino)+" "+number(m.Size)+" "+number(uint64(len(m.Path)))+" "+number(uint64(len(m.Source)))+" "+m.Path+m.Source+m.Upper)
	}
	return out
}

func number(n uint64) string { return strconv.FormatUint(n, 10) }

// Parse parses the result of Fields.
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
		b.NewNamespaces = true
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
		b.Rules.Descriptor, err = strconv.Atoi(rest)
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
	for i, to := range []*string{&m.Path, &m.Source} {
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

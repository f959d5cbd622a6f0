package mcp

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"adze/tool"
)

// The roll is a file with the catalogues of all servers of a configuration as a start needs them: a
// table of names and digests, and behind it the definitions, which are read one by one. It is made
// of the catalogues and counts as long as they are as they were; what it does not know, and a roll
// that is damaged, is read from them. What the user agreed to is in the catalogues alone.
const (
	rollMagic = "adze mcp roll 1\n"
	rollHead  = len(rollMagic) + sha256.Size + 8 // and the length of the table
	maxTable  = 16 << 20
	mostRolls = 16 // each folder with servers of its own has one
)

// leaf is a server in the roll.
type leaf struct {
	Protocol, More     string
	Prompts, Resources bool
	Tools              []leafTool
}

// leafTool is a tool in the roll.
type leafTool struct {
	Name   string // as the server calls it
	Shown  string // as a model does
	Digest string // of its definition
	Bad    string // why it cannot be used
	// A Tool, as JSON: here, or in the roll.
	Raw  []byte
	At   int64 // behind the table
	Size int
	Sum  string // SHA-256
}

// stamp tells one state of a file from another; that of no file is empty.
func stamp(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	var b writer
	b.number(uint64(info.Size()))
	b.number(uint64(info.ModTime().UnixNano()))
	b.number(inode(info))
	return string(b)
}

// leafOf makes what a roll has of a catalogue.
func (v *server) leafOf(c *Catalogue) *leaf {
	l := &leaf{Protocol: c.Protocol, More: c.More, Prompts: c.Prompts, Resources: c.Resources}
	for _, t := range c.Tools {
		raw, err := json.Marshal(t)
		one := leafTool{Name: t.Name, Shown: ToolName(v.conf.Name, t.Name), Bad: t.Bad, Raw: raw}
		if err == nil && one.Bad == "" {
			one.Digest, err = digest(v.tool(t))
		}
		if err != nil {
			one.Bad = err.Error()
		}
		l.Tools = append(l.Tools, one)
	}
	return l
}

// digest is that of a tool's definition; its error is why there is none.
func digest(t tool.Tool) (string, error) {
	var alone tool.Registry
	if err := alone.Register(t); err != nil {
		return "", err
	}
	d, _ := alone.Get(t.ID())
	return d.Digest, nil
}

// later is a tool of the roll, whose definition is read when it is needed.
func (v *server) later(t leafTool) tool.Tool {
	return tool.DefineLater(t.Shown, tool.Later{Digest: t.Digest, Read: func() (tool.Tool, error) {
		v.pool.reads.Add(1)
		raw := t.Raw
		if raw == nil {
			raw = v.pool.body(t)
		}
		var one Tool
		if raw != nil && json.Unmarshal(raw, &one) == nil {
			return v.tool(one), nil
		}
		v.mu.Lock()
		defer v.mu.Unlock()
		if one, has := v.known().tool(t.Name); has && one.Bad == "" { // the roll is another by now
			return v.tool(one), nil
		}
		return tool.Tool{}, fmt.Errorf("the definition of %s is not kept any more", t.Shown)
	}})
}

// body reads a definition of the roll; if nil, it is not there, or damaged.
func (p *Pool) body(t leafTool) []byte {
	f, err := os.Open(p.rollFile())
	if err != nil {
		return nil
	}
	defer f.Close()
	raw := make([]byte, min(t.Size, maxBytes))
	if _, err := f.ReadAt(raw, p.bodies.Load()+t.At); err != nil || sumOf(raw) != t.Sum {
		return nil
	}
	return raw
}

func sumOf(raw []byte) string {
	sum := sha256.Sum256(raw)
	return string(sum[:])
}

// leaf is what is known of the server for a list of its tools; if nil, it was never seen, or is
// hidden. The lock is held.
func (v *server) leaf() *leaf {
	if v.hidden {
		return nil
	}
	if !v.looked {
		if l, ok := v.pool.roll()[v.conf.Name]; ok {
			return l
		}
	}
	c := v.known()
	if c == nil {
		return nil
	}
	if v.leafFor != c {
		v.leafFor, v.made = c, v.leafOf(c)
	}
	return v.made
}

// rollFile is where the roll of these servers is. Other servers, and definitions that are made in
// another way, have another.
func (p *Pool) rollFile() string {
	sum := sha256.New()
	for _, name := range p.order {
		sum.Write([]byte(p.servers[name].conf.file("") + "\n"))
	}
	probe := Tool{Name: "probe", Title: "t", Description: "d ${x}", Parameters: json.RawMessage(`{"type":"object"}`), Hints: []string{"h"}, Pin: "p"}
	how, err := digest(newServer(p, Server{Name: "probe"}).tool(probe))
	if err != nil {
		how = err.Error()
	}
	sum.Write([]byte(p.opts.Version + "\n" + how))
	return filepath.Join(p.opts.State, "roll-"+hex.EncodeToString(sum.Sum(nil)[:12]))
}

// readRoll is what the roll has of servers whose catalogues are as they were; nil stands for one
// that was never seen.
func (p *Pool) readRoll() map[string]*leaf {
	if p.opts.State == "" || len(p.order) == 0 {
		return nil
	}
	table := readTable(p.rollFile())
	if table == nil {
		return nil
	}
	p.bodies.Store(int64(rollHead + len(table)))
	r := reader{raw: table}
	out := map[string]*leaf{}
	for _, name := range p.order {
		was, known := r.text(), r.flag()
		var l *leaf
		if known {
			l = r.leaf()
		}
		if !r.bad && was == stamp(p.servers[name].conf.file(p.opts.State)) {
			out[name] = l
		}
	}
	if r.bad {
		return nil
	}
	return out
}

// readTable reads the table of a roll; if nil, there is none, or it is damaged.
func readTable(path string) []byte {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	head := make([]byte, rollHead)
	if _, err := io.ReadFull(f, head); err != nil || string(head[:len(rollMagic)]) != rollMagic {
		return nil
	}
	size := binary.LittleEndian.Uint64(head[rollHead-8:])
	if size > maxTable {
		return nil
	}
	table := make([]byte, size)
	if _, err := io.ReadFull(f, table); err != nil || sumOf(table) != string(head[len(rollMagic):rollHead-8]) {
		return nil
	}
	return table
}

// writeRoll makes the roll anew where a catalogue is not in it, or is another by now.
func (p *Pool) writeRoll() {
	if p.opts.State == "" || len(p.order) == 0 {
		return
	}
	fresh := p.readRoll()
	if len(fresh) == len(p.order) {
		return
	}
	var w, bodies writer
	for _, name := range p.order {
		v := p.servers[name]
		path := v.conf.file(p.opts.State)
		was := stamp(path)
		l, has := fresh[name]
		if c := (*Catalogue)(nil); !has {
			if c = loadCatalogue(path); c != nil {
				l = v.leafOf(c)
			}
		}
		if stamp(path) != was {
			return // somebody writes it now, and makes the roll
		}
		w.text(was)
		w.leaf(p.laid(l, &bodies))
	}
	size := binary.LittleEndian.AppendUint64(nil, uint64(len(w)))
	if keep(p.rollFile(), slices.Concat([]byte(rollMagic+sumOf(w)), size, w, bodies)) == nil { // without it the catalogues are read
		trimRolls(p.opts.State)
	}
}

// laid is a leaf whose definitions lie among bodies.
func (p *Pool) laid(l *leaf, bodies *writer) *leaf {
	if l == nil {
		return nil
	}
	out := *l
	out.Tools = slices.Clone(l.Tools)
	for i, t := range out.Tools {
		raw := t.Raw
		if raw == nil {
			raw = p.body(t)
		}
		t.Raw, t.At, t.Size, t.Sum = nil, int64(len(*bodies)), len(raw), sumOf(raw)
		*bodies, out.Tools[i] = append(*bodies, raw...), t
	}
	return &out
}

// trimRolls removes the oldest where there are too many.
func trimRolls(dir string) {
	all, _ := os.ReadDir(dir)
	all = slices.DeleteFunc(all, func(e fs.DirEntry) bool { return !strings.HasPrefix(e.Name(), "roll-") })
	age := func(e fs.DirEntry) int64 {
		info, err := e.Info()
		if err != nil {
			return 0
		}
		return info.ModTime().UnixNano()
	}
	slices.SortFunc(all, func(a, b fs.DirEntry) int { return int(min(1, max(-1, age(b)-age(a)))) })
	for i, e := range all {
		if i >= mostRolls {
			_ = os.Remove(filepath.Join(dir, e.Name())) // the next run tries again
		}
	}
}

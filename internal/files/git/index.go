package git

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// errIndex means that an index is damaged or has an unknown version.
var errIndex = errors.New("the index cannot be read")

// Index is a parsed index file.
type Index struct {
	Objects []string // ids of file contents and cached trees
	Shared  string   // id of the shared index (git update-index --split-index), or ""
	// Files are the entries without stat data, which git status may refresh.
	Files []string
}

const (
	indexHeader   = 12
	indexStat     = 40 // bytes in an entry before its object id
	indexExtended = 0x4000
	modeFormat    = 0o170000
	modeSubmodule = 0o160000
)

// ParseIndex reads an index file (gitformat-index(5)), versions 2 to 4.
func ParseIndex(b []byte, sha256 bool) (x Index, err error) {
	size := 20
	if sha256 {
		size = 32
	}
	if len(b) < indexHeader+size || string(b[:4]) != "DIRC" {
		return x, errIndex
	}
	version, count := binary.BigEndian.Uint32(b[4:]), binary.BigEndian.Uint32(b[8:])
	if version < 2 || version > 4 {
		return x, errIndex
	}
	p := indexReader{b: b[indexHeader : len(b)-size], size: size}
	for range count {
		if p.entry(version); p.bad {
			return x, errIndex
		}
	}
	for len(p.b) > 0 && !p.bad {
		p.extension()
	}
	if p.bad {
		return x, errIndex
	}
	return p.result, nil
}

// indexReader parses an index; bad is set if data is missing.
type indexReader struct {
	b      []byte
	size   int
	bad    bool
	result Index
	name   string
}

func (p *indexReader) take(n int) []byte {
	if p.bad || n < 0 || n > len(p.b) {
		p.bad = true
		return nil
	}
	out := p.b[:n]
	p.b = p.b[n:]
	return out
}

// text reads up to the byte end.
func (p *indexReader) text(end byte) string {
	before, after, ok := bytes.Cut(p.b, []byte{end})
	if !ok {
		p.bad = true
		return ""
	}
	p.b = after
	return string(before)
}

func (p *indexReader) number(end byte, base int) int {
	n, err := strconv.ParseInt(p.text(end), base, 32)
	p.bad = p.bad || err != nil
	return int(n)
}

func (p *indexReader) object() {
	p.result.Objects = append(p.result.Objects, hex.EncodeToString(p.take(p.size)))
}

func (p *indexReader) entry(version uint32) {
	whole := len(p.b)
	stat := p.take(indexStat)
	id := p.take(p.size)
	flags := p.take(2)
	if p.bad {
		return
	}
	if binary.BigEndian.Uint32(stat[24:])&modeFormat != modeSubmodule {
		p.result.Objects = append(p.result.Objects, hex.EncodeToString(id))
	}
	extended := []byte(nil)
	if binary.BigEndian.Uint16(flags)&indexExtended != 0 {
		extended = p.take(2)
	}
	if version == 4 {
		dropped := p.offset()
		p.bad = p.bad || dropped > len(p.name)
		p.name = p.name[:len(p.name)-min(dropped, len(p.name))] + p.text(0)
	} else {
		p.name = p.text(0)
		if used := whole - len(p.b); used%8 != 0 { // one to eight NULs end a name
			p.take(8 - used%8)
		}
	}
	p.result.Files = append(p.result.Files, fmt.Sprintf("%x %x %x %x %s", stat[24:28], id, flags[0]&^0x0f, extended, p.name))
}

// offset reads a number encoded like a pack's base offset (gitformat-pack(5)).
func (p *indexReader) offset() (n int) {
	for i := 0; !p.bad && i < 4; i++ {
		b := p.take(1)
		if p.bad {
			return 0
		}
		n = n<<7 | int(b[0]&0x7f)
		if b[0]&0x80 == 0 {
			return n
		}
		n++
	}
	p.bad = true
	return 0
}

func (p *indexReader) extension() {
	head := p.take(8)
	if p.bad {
		return
	}
	x := indexReader{b: p.take(int(binary.BigEndian.Uint32(head[4:]))), size: p.size}
	switch string(head[:4]) {
	case "TREE":
		for len(x.b) > 0 && !x.bad {
			x.text(0)
			entries := x.number(' ', 10)
			x.number('\n', 10)
			if entries >= 0 && !x.bad {
				x.object()
			}
		}
	case "REUC":
		for len(x.b) > 0 && !x.bad {
			x.text(0)
			modes := [3]int{x.number(0, 8), x.number(0, 8), x.number(0, 8)}
			for _, m := range modes {
				if m != 0 && !x.bad {
					x.object()
				}
			}
		}
	case "link":
		x.object()
		if id := x.result.Objects[0]; strings.Trim(id, "0") != "" {
			p.result.Shared = id
		}
		x.result.Objects = nil
	}
	p.bad = p.bad || x.bad
	p.result.Objects = append(p.result.Objects, x.result.Objects...)
}

// SameIndex reports whether two index files have the same entries, ignoring stat data.
func SameIndex(a, b []byte) bool {
	for _, sha256 := range []bool{false, true} {
		x, err := ParseIndex(a, sha256)
		y, err2 := ParseIndex(b, sha256)
		if err == nil && err2 == nil {
			return x.Shared == y.Shared && slices.Equal(x.Files, y.Files)
		}
	}
	return false
}

package embed

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"
	"os"
	"path/filepath"
	"strings"

	"adze/internal/files/atomicfile"
)

// shelf keeps vectors in files, one a key: little-endian 32-bit numbers. A file that is damaged
// counts as missing; one that cannot be written is only asked for again.
type shelf struct{ dir string }

// shelfFor keeps servers and models apart, whose vectors say nothing to one another.
func shelfFor(o Options) shelf {
	if o.Cache == "" {
		return shelf{}
	}
	sum := sha256.Sum256([]byte(o.BaseURL + "\n" + o.Model))
	return shelf{filepath.Join(o.Cache, hex.EncodeToString(sum[:8]))}
}

// path is where a key's vector lies; empty for what is not kept. A key is a hexadecimal digest, so
// that it can be no other file's name.
func (s shelf) path(key string) string {
	if s.dir == "" || len(key) != hex.EncodedLen(sha256.Size) || strings.Trim(key, "0123456789abcdef") != "" {
		return ""
	}
	return filepath.Join(s.dir, key)
}

func (s shelf) load(key string) []float32 {
	path := s.path(key)
	if path == "" {
		return nil
	}
	raw, err := os.ReadFile(path)
	if err != nil || len(raw) == 0 || len(raw)%4 != 0 {
		return nil
	}
	v := make([]float32, len(raw)/4)
	for i := range v {
		v[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
	}
	return v
}

// save writes beside and renames, so that a reader never sees half a vector.
func (s shelf) save(key string, v []float32) {
	path := s.path(key)
	if path == "" || os.MkdirAll(s.dir, 0o700) != nil {
		return
	}
	raw := make([]byte, 0, 4*len(v))
	for _, x := range v {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(x))
	}
	_ = atomicfile.WriteCache(path, raw)
}

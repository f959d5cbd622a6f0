package sessiondb

import (
	"crypto/rand"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/klauspost/compress/s2"

	"adze/internal/osfile/atomicfile"
)

// The first start ever does not run the schema: SQLite would sync a rollback journal, its folder
// and the file to change how it is written, and then the log with the tables. A database without a
// row is always the same but for its identity, so it is put in its place whole, with one sync of
// the file and one of its folder.

// emptyStore is what steps make, packed; TestTheEmptyStoreIsWhatTheSchemaMakes writes it with
// -update.
//
//go:embed empty.db.s2
var emptyStore []byte

// noIdentity stands in it in the place of an identity.
const noIdentity = "00000000000000000000000000000000"

// fresh makes a database where there is none. Where it cannot, or where another process was first,
// opening goes on as without it, and says what is wrong.
func fresh(path string, network func(string) bool) {
	// A log of a database that was taken away: SQLite knows that it belongs to no empty file.
	for _, left := range []string{"-wal", "-journal"} {
		if _, err := os.Lstat(path + left); !errors.Is(err, fs.ErrNotExist) {
			return
		}
	}
	if image, err := emptyImage(network(path)); err == nil {
		_ = atomicfile.Create(path, image)
	}
}

// emptyImage is a database without a row, with an identity of its own.
func emptyImage(network bool) ([]byte, error) {
	image, err := s2.Decode(nil, emptyStore)
	if err != nil {
		return nil, fmt.Errorf("empty store: %w", err)
	}
	var id [len(noIdentity) / 2]byte
	rand.Read(id[:]) // never fails
	at := strings.Index(string(image), noIdentity)
	if at < 0 || len(image) < 100 {
		return nil, errors.New("empty store: it has no place for an identity")
	}
	hex.Encode(image[at:], id[:])
	image[18], image[19] = 2, 2 // it has a write-ahead log
	if network {
		image[18], image[19] = 1, 1 // a rollback journal
	}
	return image, nil
}

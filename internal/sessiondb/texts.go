package sessiondb

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/klauspost/compress/s2"
)

// A large text of an entry, such as an output or a picture, is stored once, by hash, for all
// entries and sessions. The entry holds a name in its place, which the chain covers. Readers of
// entries get the text back byte for byte. The text is the JSON string with its escapes, after
// masking.

// textTables is the schema step for large texts and the sessions that use them.
const textTables = `CREATE TABLE texts (
		num    INTEGER PRIMARY KEY,
		hash   BLOB NOT NULL UNIQUE,
		size   INTEGER NOT NULL, -- unpacked
		packed INTEGER NOT NULL, -- 1: S2
		data   BLOB NOT NULL
	);
	CREATE TABLE uses (text INTEGER, session INTEGER, PRIMARY KEY (text, session)) WITHOUT ROWID;`

// largeText is the size in bytes from which a text is stored separately. A smaller limit would cost
// more in rows than it saves.
const largeText = 4 << 10

// looseText is the size in bytes from which a text is not compressed: compression needs its size
// again in memory, and such texts come with long answers, when memory is scarcest.
const looseText = 8 << 20

// nameOfText starts a text's name in an entry. A real string with this prefix is stored separately
// at any length, so the prefix always marks a name.
const nameOfText = "adze:text:sha256:"

// textName identifies a text by its hash and length in bytes.
type textName struct {
	hash [sha256.Size]byte
	size int
}

func (n textName) String() string {
	return nameOfText + hex.EncodeToString(n.hash[:]) + ":" + strconv.Itoa(n.size)
}

type text struct {
	textName
	data string
}

// apart extracts the large texts from an entry's JSON data.
func apart(data string) (short string, texts []text) {
	if len(data) < largeText && !strings.Contains(data, nameOfText) {
		return data, nil
	}
	var b strings.Builder
	done := 0
	for at := strings.IndexByte(data, '"'); at >= 0; {
		end := at + 1
		for end < len(data) && data[end] != '"' {
			if data[end] == '\\' {
				end++
			}
			end++
		}
		if end >= len(data) {
			break
		}
		if s := data[at+1 : end]; len(s) >= largeText || strings.HasPrefix(s, nameOfText) {
			t := text{textName{sha256.Sum256([]byte(s)), len(s)}, s}
			texts = append(texts, t)
			b.WriteString(data[done:at+1] + t.String())
			done = end
		}
		next := strings.IndexByte(data[end+1:], '"')
		if next < 0 {
			break
		}
		at = end + 1 + next
	}
	if done == 0 {
		return data, nil
	}
	b.WriteString(data[done:])
	return b.String(), texts
}

// namePlace is a name's position in an entry.
type namePlace struct {
	textName
	start, end int
}

// names finds the names in an entry's data. A quote after a backslash is inside another string.
func names(data []byte) (out []namePlace) {
	begin := []byte(`"` + nameOfText)
	for at := 0; ; {
		next := bytes.Index(data[at:], begin)
		if next < 0 {
			return out
		}
		start := at + next + 1
		at = start
		end := bytes.IndexByte(data[start:], '"')
		if end < 0 || start > 1 && data[start-2] == '\\' {
			continue
		}
		hash, size, _ := strings.Cut(string(data[start+len(nameOfText):start+end]), ":")
		n := namePlace{start: start, end: start + end}
		sum, err := hex.DecodeString(hash)
		length, serr := strconv.Atoi(size)
		if err != nil || serr != nil || copy(n.hash[:], sum) != sha256.Size || len(hash) != 2*sha256.Size || length < 0 {
			continue
		}
		n.size = length
		out = append(out, n)
		at = n.end
	}
}

// asker runs queries: a connection, a transaction or the database.
type asker interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// texts restores large texts. It caches the last ones, as a text stored once is often used by
// several entries.
type texts struct {
	from  asker
	known map[textName][]byte
	held  int // bytes
}

// keptTexts limits the cache, in bytes.
const keptTexts = 16 << 20

// lostText replaces a missing text; Verify reports the entry.
const lostText = "(this text is lost: the session store was damaged)"

// whole returns an entry's data with its texts.
func (t *texts) whole(ctx context.Context, data []byte) ([]byte, error) {
	found := names(data)
	if len(found) == 0 {
		return data, nil
	}
	size := len(data)
	for _, n := range found {
		size += n.size
	}
	out, done := make([]byte, 0, size), 0
	for _, n := range found {
		text, err := t.read(ctx, n.textName)
		if err != nil && !errors.Is(err, errNoText) {
			return nil, err
		}
		if err != nil {
			text = []byte(lostText)
		}
		out = append(append(out, data[done:n.start]...), text...)
		done = n.end
	}
	return append(out, data[done:]...), nil
}

// errNoText means a text is missing or does not match its name.
var errNoText = errors.New("a stored text is missing or was changed")

// read returns one text, which callers must not change.
func (t *texts) read(ctx context.Context, n textName) ([]byte, error) {
	if text, ok := t.known[n]; ok {
		return text, nil
	}
	var packed bool
	var data []byte
	err := t.from.QueryRowContext(ctx, "SELECT packed, data FROM texts WHERE hash = ?", n.hash[:]).Scan(&packed, &data)
	switch {
	case errors.Is(err, sql.ErrNoRows), err != nil && strings.Contains(err.Error(), "no such table"):
		return nil, errNoText
	case err != nil:
		return nil, err
	}
	text, err := unpacked(packed, data, n)
	if err != nil {
		return nil, err
	}
	if t.held += n.size; t.known == nil || t.held > keptTexts {
		t.known, t.held = map[textName][]byte{}, n.size
	}
	t.known[n] = text
	return text, nil
}

func unpacked(packed bool, data []byte, n textName) ([]byte, error) {
	if packed {
		if size, err := s2.DecodedLen(data); err != nil || size != n.size {
			return nil, errNoText
		}
		var err error
		if data, err = s2.Decode(nil, data); err != nil {
			return nil, errNoText
		}
	}
	if sha256.Sum256(data) != n.hash {
		return nil, errNoText
	}
	return data, nil
}

// saveTexts stores new texts and records that the session uses all of them.
func saveTexts(ctx context.Context, tx *sql.Tx, session int64, list []text) error {
	for _, t := range list {
		var num int64
		err := tx.QueryRowContext(ctx, "SELECT num FROM texts WHERE hash = ?", t.hash[:]).Scan(&num)
		if errors.Is(err, sql.ErrNoRows) {
			num, err = saveText(ctx, tx, t)
		}
		if err == nil {
			_, err = tx.ExecContext(ctx, "INSERT OR IGNORE INTO uses VALUES (?, ?)", num, session)
		}
		if err != nil {
			return fmt.Errorf("a text of %d bytes: %w", t.size, err)
		}
	}
	return nil
}

func saveText(ctx context.Context, tx *sql.Tx, t text) (int64, error) {
	packed, data := false, []byte(nil)
	if t.size < looseText {
		if data = s2.Encode(nil, []byte(t.data)); len(data) < t.size-t.size/8 {
			packed = true
		}
	}
	if !packed {
		data = []byte(t.data)
	}
	done, err := tx.ExecContext(ctx, "INSERT INTO texts (hash, size, packed, data) VALUES (?, ?, ?, ?)", t.hash[:], t.size, packed, data)
	if err != nil {
		return 0, err
	}
	return done.LastInsertId()
}

// dropTexts deletes texts used by this session alone, in the transaction that removes it.
func dropTexts(ctx context.Context, tx *sql.Tx, session int64) error {
	_, err := tx.ExecContext(ctx, "DELETE FROM uses WHERE session = ?", session)
	if err == nil {
		_, err = tx.ExecContext(ctx, "DELETE FROM texts WHERE NOT EXISTS (SELECT 1 FROM uses WHERE text = num)")
	}
	return err
}

package apply

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"adze/internal/sandbox/overlay/entry"
)

// notes are what steps note before they write over a file, all in one file of the view: to make a
// file takes longer than to write it. A note begins with a line that has the attributes; then come
// the pieces that are written over, each with a line before it, and a line that ends the note. One
// without end counts as none, and so does one that is marked as taken back.
type notes struct {
	file *os.File
	at   map[int]int64 // where that of a step begins
	end  int64
}

// noteLine is a line of a note.
type noteLine struct {
	Step       int
	Stat       *entry.Stat       `json:",omitempty"` // of the file, in the first line
	Attributes map[string][]byte // of the file
	At         int64             `json:",omitempty"` // of a piece
	Size       int               `json:",omitempty"`
}

const (
	notesName = "was"
	taken     = '-' // the first letter of a note that was taken back
)

// openNotes opens the notes, and reads where those are that a killed process made.
func (g *Ground) openNotes() (err error) {
	n := notes{at: map[int]int64{}}
	if n.file, err = os.OpenFile(filepath.Join(g.Dir, notesName), os.O_CREATE|os.O_RDWR, 0o600); err != nil {
		return err
	}
	in, at, begin := bufio.NewReader(n.file), int64(0), int64(0)
	for {
		text, err := in.ReadBytes('\n')
		var line noteLine
		if err != nil || json.Unmarshal(bytes.TrimLeft(text, string(taken)+" "), &line) != nil {
			break
		}
		if line.Stat != nil {
			begin = at
			if n.at[line.Step] = begin; text[0] == taken {
				n.at[line.Step] = -1
			}
		}
		skipped, err := in.Discard(line.Size)
		if at += int64(len(text) + skipped); err != nil {
			break
		}
		if line.Stat == nil && line.Size == 0 {
			n.end = at
		}
	}
	for step, at := range n.at {
		if at < 0 || at >= n.end {
			delete(n.at, step)
		}
	}
	g.notes = n
	return n.file.Truncate(n.end)
}

// noted reports that the step has noted what was there, and so may have begun.
func (x spot) noted() bool {
	_, ok := x.notes.at[x.Number]
	return ok
}

// note notes the attributes of what is there, and of a file what the step will write over.
func (x spot) note(fd int, f, ours *os.File, now entry.Stat) error {
	n := &x.notes
	if _, err := n.file.Seek(n.end, io.SeekStart); err != nil {
		return err
	}
	buffered := bufio.NewWriter(n.file)
	out := json.NewEncoder(buffered)
	err := buffered.WriteByte(' ')
	if err == nil {
		err = out.Encode(noteLine{Step: x.Number, Stat: &now, Attributes: entry.AttributesOf(fd)})
	}
	if err == nil && f != nil {
		err = entry.Differences(f, ours, now.Size, x.Upper.Size, func(at int64, data, _ []byte) error {
			if err := out.Encode(noteLine{Step: x.Number, At: at, Size: len(data)}); err != nil {
				return err
			}
			_, err := buffered.Write(data)
			return err
		})
	}
	if err == nil {
		err = out.Encode(noteLine{Step: x.Number})
	}
	if err := errors.Join(err, buffered.Flush()); err != nil {
		return errors.Join(err, n.file.Truncate(n.end))
	}
	n.at[x.Number] = n.end
	n.end, err = n.file.Seek(0, io.SeekCurrent)
	return err
}

// before reads what was noted.
func (x spot) before(each func(at int64, data []byte) error) (was entry.Stat, attributes map[string][]byte, err error) {
	begin, ok := x.notes.at[x.Number]
	if !ok {
		return was, nil, fs.ErrNotExist
	}
	in := bufio.NewReader(io.NewSectionReader(x.notes.file, begin, x.notes.end-begin))
	for {
		text, err := in.ReadBytes('\n')
		if err != nil {
			return was, nil, err
		}
		var line noteLine
		if err := json.Unmarshal(text, &line); err != nil {
			return was, nil, err
		}
		if line.Stat != nil {
			was, attributes = *line.Stat, line.Attributes
			continue
		}
		if line.Size == 0 {
			return was, attributes, nil
		}
		data := make([]byte, line.Size)
		if _, err := io.ReadFull(in, data); err != nil {
			return was, nil, err
		}
		if err := each(line.At, data); err != nil {
			return was, nil, err
		}
	}
}

// takenBack has the next process not take the step back again: somebody else may have written to
// the file since.
func (x spot) takenBack() error {
	_, err := x.notes.file.WriteAt([]byte{taken}, x.notes.at[x.Number])
	delete(x.notes.at, x.Number)
	return err
}

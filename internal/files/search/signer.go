package search

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"adze/internal/files/search/match"
	"adze/internal/files/search/sign"
)

// signer reads files for their signatures, one after another.
type signer struct {
	tree  Tree
	w     *sign.Writer
	at    sign.Place
	old   *sign.Table
	now   func() time.Time
	scan  *match.Scanner // tells what is no text
	first []byte         // of a file, as much as decides that
	mu    sync.Mutex     // held while a file is worked on
	ended bool
	meek  bool // the thread gives way to others
	fresh int  // files that were not known before
}

// run gives w the signature of each file that a search without patterns of paths would read. After
// an error it does nothing more.
func (b *signer) run(ctx context.Context) error {
	m, err := match.Compile(match.Query{Pattern: "\x01\x02\x03"})
	if err != nil {
		return err
	}
	b.scan, b.first = match.NewScanner(m, match.Config{}), make([]byte, match.FirstRead)
	s, err := b.tree.scope(everything, true, nil)
	if err == nil {
		err = walkTree(ctx, b.tree, s, []visitor{b})
	}
	// An aborted walk may leave its worker behind.
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ended = true
	return err
}

func (b *signer) unreadable(string) {}

func (b *signer) beyond(string) bool { return false }

func (b *signer) ordered() bool { return false }

func (b *signer) visit(ctx context.Context, d *dir, files []entry) {
	if !b.meek {
		b.meek = true
		giveWay()
	}
	withheld := b.tree.withheld(d)
	for _, e := range files {
		if ctx.Err() != nil {
			return
		}
		if e.kind == kindFile && (withheld == nil || !withheld(e.name)) {
			b.file(ctx, d.at, e.name)
		}
	}
}

// signable is a file that is read for its signature. What a search decides by more than signatures
// tell ends it with an error: many NULs may be a hole, which a search leaves out, or make the file
// binary.
type signable struct {
	ctx  context.Context
	r    io.Reader
	nuls int
	err  error
}

func (s *signable) Read(p []byte) (n int, err error) {
	if s.err == nil {
		s.err = s.ctx.Err()
	}
	if s.err != nil {
		return 0, s.err
	}
	n, err = s.r.Read(p)
	if s.nuls += bytes.Count(p[:n], []byte{0}); s.nuls >= match.HoleLeast {
		s.err = errManyNULs
		return 0, s.err
	}
	return n, err
}

var errManyNULs = errors.New("many NUL bytes")

// file signs one file, if it stays the same meanwhile.
func (b *signer) file(ctx context.Context, at folder, name string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s, ok := at.state(name)
	if b.ended || !ok || s.Device != b.at.Device || !s.Settled(b.now()) || b.w.Keep(b.old, s) || b.w.Full() {
		return
	}
	f, err := at.openSigned(name, s)
	if err != nil {
		return
	}
	defer f.Close()
	b.fresh++
	n, err := io.ReadFull(f, b.first)
	if err != nil && n == 0 && s.Size > 0 || match.MayEndInHole(b.first[:n]) {
		return
	}
	if head := b.first[:n]; bytes.IndexByte(head, 0) >= 0 && b.binary(head) {
		if f.still(s) {
			b.w.Binary(s)
		}
		return
	}
	whole := &signable{ctx: ctx, r: io.LimitReader(io.MultiReader(bytes.NewReader(b.first[:n]), f), s.Size+1)}
	signed := sign.Signed{}
	if s.Size <= sign.MaxFile { // a longer one is always read
		signed, err = b.w.Sign(whole)
	}
	if whole.err == nil && (err == nil || s.Size > sign.MaxFile) && f.still(s) {
		b.w.Add(s, signed)
	}
}

// binary reports that a search gives a file up after its first read.
func (b *signer) binary(head []byte) bool {
	found, err := b.scan.Run(context.Background(), bytes.NewReader(head), 0)
	return err == nil && found.Skip == match.Binary
}

package natsclient

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// BlobBucket is the object store of contents, but for those that have one of their own.
const BlobBucket = "ADZE_BLOB"

// Blobs keeps contents that are too large for a message, in pieces, under the SHA-256 of the whole.
type Blobs struct {
	conn    *Conn
	store   jetstream.ObjectStore
	silence time.Duration // how long a server may send nothing of a content
}

// Blobs gives the store of large contents, which is made when it is missing.
func (c *Conn) Blobs(ctx context.Context) (*Blobs, error) { return c.BlobsIn(ctx, BlobBucket) }

// BlobsIn does the same with a bucket of that name.
func (c *Conn) BlobsIn(ctx context.Context, bucket string) (*Blobs, error) {
	b := &Blobs{conn: c, silence: fetchSilence}
	ctx, cancel := context.WithTimeout(ctx, makingTakes)
	defer cancel()
	err := c.patiently(ctx, func(ctx context.Context) (err error) {
		b.store, err = c.js.ObjectStore(ctx, bucket)
		if errors.Is(err, jetstream.ErrBucketNotFound) {
			b.store, err = c.js.CreateObjectStore(ctx, jetstream.ObjectStoreConfig{Bucket: bucket, Replicas: c.replicas()})
		}
		if errors.Is(err, jetstream.ErrBucketExists) {
			b.store, err = c.js.ObjectStore(ctx, bucket)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("object store %s: %w", bucket, err)
	}
	return b, nil
}

// blobTakes bounds how long one content is on its way to a server.
const blobTakes = 2 * time.Minute

// staysFresh is how long a content that is kept again counts as kept the last time.
const staysFresh = 12 * time.Hour

// Sweep removes contents that are old and that nobody names, and returns how many. What is named is
// asked for once one is old. A content that is kept again meanwhile is not old any more.
func (b *Blobs) Sweep(ctx context.Context, old func(name string, kept time.Time) bool, named func() (map[string]bool, error)) (n int, err error) {
	all, err := b.store.List(ctx)
	if errors.Is(err, jetstream.ErrNoObjectsFound) {
		return 0, nil
	}
	if err != nil {
		return 0, b.conn.explain(err)
	}
	var keep map[string]bool
	for _, info := range all {
		if !old(info.Name, info.ModTime) {
			continue
		}
		if keep == nil {
			if keep, err = named(); err != nil {
				return n, err
			}
			if keep == nil {
				keep = map[string]bool{}
			}
		}
		if keep[info.Name] {
			continue
		}
		now, err := b.store.GetInfo(ctx, info.Name)
		if errors.Is(err, jetstream.ErrObjectNotFound) || err == nil && !old(now.Name, now.ModTime) {
			continue
		}
		if err == nil {
			err = b.remove(ctx, now)
		}
		if err != nil {
			return n, b.conn.explain(err)
		}
		n++
	}
	return n, nil
}

// remove removes a content and then its pieces. The client's own way leaves a marker for ever, and
// who may only remove must not write.
func (b *Blobs) remove(ctx context.Context, info *jetstream.ObjectInfo) error {
	below := "$O." + info.Bucket
	err := b.conn.Purge(ctx, "OBJ_"+info.Bucket, below+".M."+base64.URLEncoding.EncodeToString([]byte(info.Name)))
	if err == nil {
		err = b.conn.Purge(ctx, "OBJ_"+info.Bucket, below+".C."+info.NUID)
	}
	return err
}

// Keep stores a content, read from its start, and gives its name: the SHA-256 in hex. What is there
// already is not sent again.
func (b *Blobs) Keep(ctx context.Context, from io.ReadSeeker) (name string, err error) {
	ctx, cancel := context.WithTimeout(ctx, blobTakes)
	defer cancel()
	sum := sha256.New()
	if _, err := from.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	size, err := io.Copy(sum, from)
	if err != nil {
		return "", err
	}
	name = hex.EncodeToString(sum.Sum(nil))
	if info, err := b.store.GetInfo(ctx, name); err == nil && info.Size == uint64(size) {
		if time.Since(info.ModTime) > staysFresh {
			err = b.store.UpdateMeta(ctx, name, jetstream.ObjectMeta{Name: name}) // it is as good as new: Sweep leaves it
		}
		return name, b.conn.explain(err)
	}
	if _, err := from.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	if _, err := b.store.Put(ctx, jetstream.ObjectMeta{Name: name}, from); err != nil {
		return "", b.conn.explain(err)
	}
	return name, nil
}

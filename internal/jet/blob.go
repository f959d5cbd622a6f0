package jet

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// blobBucket is the object store of all contents.
const blobBucket = "ADZE_BLOB"

// Blobs keeps contents that are too large for a message, in pieces, under the SHA-256 of the whole.
type Blobs struct {
	conn    *Conn
	store   jetstream.ObjectStore
	silence time.Duration // how long a server may send nothing of a content
}

// Blobs gives the store of large contents, which is made when it is missing.
func (c *Conn) Blobs(ctx context.Context) (*Blobs, error) {
	b := &Blobs{conn: c, silence: fetchSilence}
	ctx, cancel := context.WithTimeout(ctx, makingTakes)
	defer cancel()
	err := c.patiently(ctx, func(ctx context.Context) (err error) {
		b.store, err = c.js.ObjectStore(ctx, blobBucket)
		if errors.Is(err, jetstream.ErrBucketNotFound) {
			b.store, err = c.js.CreateObjectStore(ctx, jetstream.ObjectStoreConfig{Bucket: blobBucket, Replicas: c.replicas()})
		}
		if errors.Is(err, jetstream.ErrBucketExists) {
			b.store, err = c.js.ObjectStore(ctx, blobBucket)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("object store %s: %w", blobBucket, err)
	}
	return b, nil
}

// blobTakes bounds how long one content is on its way to a server.
const blobTakes = 2 * time.Minute

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
		return name, nil
	}
	if _, err := from.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	if _, err := b.store.Put(ctx, jetstream.ObjectMeta{Name: name}, from); err != nil {
		return "", b.conn.explain(err)
	}
	return name, nil
}

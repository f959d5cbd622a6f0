package natsclient

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// makingTakes bounds how long a stream is looked for and made: a cluster elects a leader for it
// first.
const makingTakes = 20 * time.Second

// replicas is how many copies of a new stream there are to be.
func (c *Conn) replicas() int {
	if c.options.Replicas != 0 {
		return c.options.Replicas
	}
	if c.nc.ConnectedClusterName() != "" {
		return 3
	}
	return 1
}

// Stream gives the stream of that name, which is made when it is missing: in files, with as many
// replicas as Options say. One that is there must agree in what loses messages (storage, retention,
// what is dropped when it is full, who may delete), or it is ErrMade; limits and replicas are its
// owner's.
func (c *Conn) Stream(ctx context.Context, want jetstream.StreamConfig) (stream jetstream.Stream, err error) {
	want.Storage, want.Replicas = jetstream.FileStorage, cmp.Or(want.Replicas, c.replicas())
	ctx, cancel := context.WithTimeout(ctx, makingTakes)
	defer cancel()
	err = c.patiently(ctx, func(ctx context.Context) error {
		stream, err = c.js.Stream(ctx, want.Name)
		if errors.Is(err, jetstream.ErrStreamNotFound) {
			stream, err = c.js.CreateStream(ctx, want)
		}
		if errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) { // somebody else made it meanwhile
			stream, err = c.js.Stream(ctx, want.Name)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("stream %s: %w", want.Name, err)
	}
	if why := differs(want, stream.CachedInfo().Config); why != "" {
		return nil, fmt.Errorf("%w: %s on %s %s; its owner can change that, or name another server", ErrMade, want.Name, c.options.URL, why)
	}
	return stream, nil
}

// differs says what of a stream would lose or let in what it must not; if empty, nothing.
func differs(want, is jetstream.StreamConfig) string {
	switch {
	case is.Storage != jetstream.FileStorage:
		return "keeps its messages in memory"
	case is.PersistMode != want.PersistMode:
		return "acknowledges what is not written yet"
	case is.Retention != want.Retention:
		return fmt.Sprintf("keeps messages by %v, not by %v", is.Retention, want.Retention)
	case want.Discard == jetstream.DiscardNew && is.Discard != want.Discard:
		return "drops its oldest messages when it is full"
	case want.DenyDelete && !is.DenyDelete || want.DenyPurge && !is.DenyPurge:
		return "lets messages be deleted"
	case want.MaxAge == 0 && is.MaxAge != 0:
		return fmt.Sprintf("drops messages after %v", is.MaxAge)
	case want.MaxMsgsPerSubject <= 0 && is.MaxMsgsPerSubject > 0:
		return fmt.Sprintf("keeps only %d messages of a subject", is.MaxMsgsPerSubject)
	case want.AllowMsgTTL && !is.AllowMsgTTL:
		return "has no times to live of single messages"
	}
	for _, s := range want.Subjects {
		if !slices.Contains(is.Subjects, s) {
			return "does not take " + s
		}
	}
	return ""
}

// Bucket gives the key-value bucket of that name, which is made when it is missing.
func (c *Conn) Bucket(ctx context.Context, want jetstream.KeyValueConfig) (bucket jetstream.KeyValue, err error) {
	want.Storage, want.Replicas = jetstream.FileStorage, cmp.Or(want.Replicas, c.replicas())
	ctx, cancel := context.WithTimeout(ctx, makingTakes)
	defer cancel()
	err = c.patiently(ctx, func(ctx context.Context) error {
		bucket, err = c.js.KeyValue(ctx, want.Bucket)
		if errors.Is(err, jetstream.ErrBucketNotFound) {
			bucket, err = c.js.CreateKeyValue(ctx, want)
		}
		if errors.Is(err, jetstream.ErrBucketExists) || errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) {
			bucket, err = c.js.KeyValue(ctx, want.Bucket)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("bucket %s: %w", want.Bucket, err)
	}
	return bucket, nil
}

// Purge removes all messages of a subject. A stream that was made to keep each is ErrMade.
func (c *Conn) Purge(ctx context.Context, stream, subject string) error {
	request, err := json.Marshal(map[string]string{"filter": subject})
	if err != nil {
		return err
	}
	answer, err := c.nc.RequestWithContext(ctx, "$JS.API.STREAM.PURGE."+stream, request)
	if err != nil {
		return c.Forbidden(err)
	}
	var got struct {
		Error *jetstream.APIError `json:"error"`
	}
	if err := json.Unmarshal(answer.Data, &got); err != nil {
		return fmt.Errorf("an answer that is no JSON: %w", err)
	}
	if got.Error != nil && got.Error.ErrorCode == codePurgeDenied {
		return fmt.Errorf("%w: %s on %s was made by an earlier adze, which let nobody remove anything; its owner can back it up, delete it, and start over", ErrMade, stream, c.options.URL)
	}
	if got.Error != nil {
		return got.Error
	}
	return nil
}

// Warn says what of a stream a user should know; if empty, nothing.
func Warn(s jetstream.Stream) string {
	if info := s.CachedInfo(); info.Config.Replicas < 3 {
		return fmt.Sprintf("%s has %d replica: it is lost with its server's disk; three servers keep three", info.Config.Name, info.Config.Replicas)
	}
	return ""
}

package natsclient

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"adze/internal/testkit/natstest"
)

// TestAContentThatStopsComing has one clear outcome while the connection stays open, and so has a
// user's end of it; what comes slowly arrives.
func TestAContentThatStopsComing(t *testing.T) {
	servers := natstest.Start(t, natstest.Options{})
	behind := func() (*natstest.Proxy, *Blobs) {
		proxy := natstest.NewProxy(t, strings.TrimPrefix(servers.URL(), "nats://"))
		blobs, err := dial(t, Options{URL: proxy.URL()}).Blobs(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return proxy, blobs
	}
	proxy, blobs := behind()
	content := bytes.Repeat([]byte("0123456789abcdef"), 128<<10)
	name, err := blobs.Keep(t.Context(), bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	proxy.Slow(100 * time.Millisecond)
	if err := blobs.Fetch(t.Context(), name, &got); err != nil || !bytes.Equal(got.Bytes(), content) {
		t.Fatalf("slowly: %d bytes, %v", got.Len(), err)
	}
	for range 3 { // on a busy machine all that comes before the stop may be what the server says again
		proxy, blobs = behind() // on the other one the server may be saying again what came too slowly
		proxy.StopAfter(1 << 20)
		got.Reset()
		// Not before something came: how long that takes is the machine's matter.
		err = blobs.Fetch(t.Context(), name, onceWritten{&got, func() { blobs.silence = 500 * time.Millisecond }})
		if got.Len() > 0 {
			break
		}
	}
	if !errors.Is(err, ErrUnreachable) || !strings.Contains(err.Error(), "sent nothing of content") || got.Len() == 0 || got.Len() >= len(content) {
		t.Errorf("%d bytes, %v", got.Len(), err)
	}
	if err := blobs.Fetch(t.Context(), name, &got); !errors.Is(err, ErrUnreachable) { // and where not even the first answer comes
		t.Error(err)
	}
	blobs.silence = time.Hour
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := blobs.Fetch(ctx, name, &got); err == nil {
		t.Error("it goes on after its end")
	}
}

// onceWritten calls then whenever something was written.
type onceWritten struct {
	io.Writer
	then func()
}

func (w onceWritten) Write(p []byte) (int, error) {
	defer w.then()
	return w.Writer.Write(p)
}

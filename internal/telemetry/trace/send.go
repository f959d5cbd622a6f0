package trace

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"
)

type sender struct {
	settings Settings
	client   func() (*http.Client, error)
	closing  <-chan struct{} // closed when the process ends: do not wait for a missing collector
}

func newSender(s Settings, closing <-chan struct{}) sender {
	return sender{s, sync.OnceValues(func() (*http.Client, error) { return clientFor(s) }), closing}
}

// clientFor makes the client for the first batch.
func clientFor(s Settings) (*http.Client, error) {
	t := http.DefaultTransport.(*http.Transport).Clone()
	if s.CA != "" {
		pem, err := os.ReadFile(s.CA)
		if err != nil {
			return nil, fmt.Errorf("the certificate for OTLP cannot be read: %w", err)
		}
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(pem) {
			return nil, errors.New("the certificate for OTLP is none")
		}
		t.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	}
	return &http.Client{Transport: t, Timeout: s.Timeout, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse // the headers hold this collector's key
	}}, nil
}

var errFull = errors.New("more came than could be sent")

const attempts = 3

// send posts a batch and retries as the specification allows.
func (s sender) send(ctx context.Context, spans []Span) error {
	body := requestOf(s.settings.Resource, spans)
	if s.settings.Gzip {
		var err error
		if body, err = compressed(body); err != nil {
			return err
		}
	}
	pause := backoff.NewExponentialBackOff()
	for n := 1; ; n++ {
		wait, err := s.post(ctx, body)
		if err == nil || wait < 0 || n == attempts {
			return err
		}
		var closing <-chan struct{}
		if wait == 0 {
			closing = s.closing
		}
		timer := time.NewTimer(max(wait, pause.NextBackOff()))
		select {
		case <-timer.C:
			continue
		case <-ctx.Done():
		case <-closing:
		}
		timer.Stop()
		return err
	}
}

// maxRetryAfter limits the collector's requested pause.
const maxRetryAfter = 30 * time.Second

// post makes one request. A negative wait means that a retry would not help, 0 that the collector
// was not reached.
func (s sender) post(ctx context.Context, body []byte) (wait time.Duration, err error) {
	client, err := s.client()
	if err != nil {
		return -1, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.settings.URL, bytes.NewReader(body))
	if err != nil {
		return -1, errors.New("the address cannot be asked")
	}
	for _, h := range s.settings.Headers {
		r.Header.Set(h.Key, h.Value.(string))
	}
	r.Header.Set("Content-Type", "application/x-protobuf")
	if s.settings.Gzip {
		r.Header.Set("Content-Encoding", "gzip")
	}
	answer, err := client.Do(r)
	if err != nil {
		if failed := new(url.Error); errors.As(err, &failed) {
			err = failed.Err // its text repeats the address
		}
		return 0, err
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(answer.Body, 64<<10))
	switch answer.StatusCode {
	case http.StatusOK, http.StatusAccepted, http.StatusNoContent:
		if n := rejected(text); n > 0 {
			return -1, fmt.Errorf("the collector refused %d of them", n)
		}
		return -1, nil
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		seconds, _ := strconv.Atoi(answer.Header.Get("Retry-After"))
		return min(max(time.Duration(seconds)*time.Second, time.Millisecond), maxRetryAfter), fmt.Errorf("HTTP %d", answer.StatusCode)
	}
	return -1, fmt.Errorf("HTTP %d", answer.StatusCode)
}

func compressed(body []byte) ([]byte, error) {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write(body)
	err = errors.Join(err, w.Close())
	return b.Bytes(), err
}

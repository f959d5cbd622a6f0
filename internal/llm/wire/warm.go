package wire

import (
	"context"
	"net"
	"net/http"
	"time"
)

const (
	// dialTime bounds the way to a server, and its handshake.
	dialTime = 10 * time.Second
	// maxIdleTime is how long a connection is kept unused: servers close those that say nothing.
	maxIdleTime = 90 * time.Second
)

// warmKey finds the warmUp in the context of a dial.
type warmKey struct{}

// warmUp is a request that is given up as soon as its connection is being opened. The transport
// goes on opening that, and keeps it for the next request.
type warmUp struct {
	giveUp context.CancelFunc
	gone   chan struct{} // closed when the request has ended
}

// Warm opens the connection that the first request will use, while other things are made ready. It
// returns at once and sends nothing but what opening takes; what fails is silent, because the
// request will tell. The connection is closed when ctx ends and no request uses it. A client of the
// caller is left alone.
func (c *Client) Warm(ctx context.Context) {
	if !c.ownHTTP || ctx.Err() != nil {
		return
	}
	context.AfterFunc(ctx, c.HTTP.CloseIdleConnections)
	inner, giveUp := context.WithCancel(ctx)
	w := &warmUp{giveUp, make(chan struct{})}
	request, err := http.NewRequestWithContext(context.WithValue(inner, warmKey{}, w), http.MethodHead, c.base, nil)
	if err != nil {
		giveUp()
		return
	}
	go func() {
		defer close(w.gone)
		defer giveUp()
		if reply, err := c.HTTP.Do(request); err == nil {
			reply.Body.Close()
		}
	}()
}

// dial opens a connection. One that is opened ahead begins when its request has ended, so that
// nothing is sent over it.
func dial(ctx context.Context, network, addr string) (net.Conn, error) {
	if w, ok := ctx.Value(warmKey{}).(*warmUp); ok {
		w.giveUp()
		<-w.gone
	}
	d := net.Dialer{Timeout: dialTime, KeepAlive: 30 * time.Second}
	return d.DialContext(ctx, network, addr)
}

// ownHTTP makes a client that keeps its connections and dials when first used.
func ownHTTP() *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			Proxy:               http.ProxyFromEnvironment,
			DialContext:         dial,
			ForceAttemptHTTP2:   true,
			MaxIdleConns:        4,
			MaxIdleConnsPerHost: 2,
			IdleConnTimeout:     maxIdleTime,
			TLSHandshakeTimeout: dialTime,
			// Compressed event streams arrive in blocks, which is not streaming.
			DisableCompression: true,
		},
		CheckRedirect: stay,
	}
}

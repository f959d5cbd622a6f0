package serve

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"sync"

	"adze/internal/editors/pairing"
	"adze/internal/text/jsontext"
)

// Far is how devices beyond this machine come in: with tokens of their own, over TLS or through a
// tunnel, and with their scopes. The token of the machine does not let anybody in there.
type Far struct {
	// Hosts are the values of the Host header that belong to it: host and port, as browsers write
	// them. The origin is that host over https.
	Hosts map[string]bool
	// Address is what a device opens, and Fingerprint the certificate's that it meets there; empty
	// where a tunnel has one.
	Address     string
	Fingerprint string
	Devices     *pairing.Devices
	Exchange    *pairing.Exchange
}

// visitors are the devices that the server lets in, and their requests that run. Without Far none
// is let in.
type visitors struct {
	*Far

	mu     sync.Mutex
	visits map[*visit]struct{}
}

func newVisitors(f *Far) *visitors { return &visitors{Far: f, visits: map[*visit]struct{}{}} }

// from tells whether a request comes from beyond this machine.
func (v *visitors) from(r *http.Request) bool {
	return r.TLS != nil || v.Far != nil && v.Hosts[r.Host]
}

// unpaired are the places of devices that have no token yet. They hold nothing that is anybody's.
func unpaired(r *http.Request) bool {
	switch r.Method + " " + r.URL.Path {
	case "GET /pair", "HEAD /pair", "POST /api/pair/claim", "POST /api/pair/collect":
		return true
	}
	return false
}

type deviceKey struct{}

// deviceOf is the device that sent a request; if nil, it came from this machine.
func deviceOf(ctx context.Context) *pairing.Device {
	d, _ := ctx.Value(deviceKey{}).(*pairing.Device)
	return d
}

// bars says why a request from beyond this machine is not let in; if nil, it is, and d is the
// device that sent it.
func (v *visitors) bars(r *http.Request) (d *pairing.Device, why *refusal) {
	token, ok := bearer(r)
	if !ok {
		return nil, &refusal{http.StatusUnauthorized, "this device is not paired: run adze serve pair on the machine that serves"}
	}
	found, err := v.Devices.Find(token)
	switch {
	case errors.Is(err, pairing.ErrUnknown):
		return nil, &refusal{http.StatusUnauthorized, "this device is not paired any more: run adze serve pair on the machine that serves"}
	case err != nil:
		return nil, &refusal{http.StatusInternalServerError, "the list of devices cannot be read on the machine that serves"}
	}
	return &found, nil
}

// only lets requests of this machine through, and those of devices that have the scope. An empty
// scope is held by no device.
func only(scope pairing.Scope, do http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := mayDo(r.Context(), scope); err != nil {
			refuse(w, err)
			return
		}
		do(w, r)
	}
}

// mayDo says why the sender of a request may not do something; if nil, it may.
func mayDo(ctx context.Context, scope pairing.Scope) error {
	d := deviceOf(ctx)
	switch {
	case d == nil || scope != "" && d.Has(scope):
		return nil
	case scope == "":
		return &refusal{http.StatusForbidden, "only the machine that serves may do this, and no other device"}
	}
	return &refusal{http.StatusForbidden, "this device may " + list(d.May) + ", and this takes " + string(scope) + ": pair it anew with adze serve pair --may"}
}

func list(may []pairing.Scope) string {
	if len(may) == 0 {
		return "do nothing"
	}
	words := make([]string, len(may))
	for i, s := range may {
		words[i] = string(s)
	}
	return strings.Join(words, ", ")
}

// sender names the sender of a request for the log and for owners of sessions. It is a page of this
// machine, or of a device, by its id and the name that it gave itself.
func sender(ctx context.Context) string {
	if d := deviceOf(ctx); d != nil {
		return ownPage + " on device " + d.ID + " (" + d.Name + ")"
	}
	return ownPage
}

// ownPage is how a page of this machine is called.
const ownPage = "page"

// attend ends the requests of devices that were revoked: the streams that they read. It looks when
// the list of devices changes, until ctx ends.
func (v *visitors) attend(ctx context.Context, next func(context.Context) error) {
	for next(ctx) == nil {
		all, err := v.Devices.All()
		in := map[string]bool{}
		if err == nil {
			for _, d := range all {
				in[d.ID] = true
			}
		}
		v.mu.Lock()
		for running := range v.visits {
			if !in[running.device] {
				running.end()
			}
		}
		v.mu.Unlock()
	}
}

// visit is a request of a device that runs.
type visit struct {
	device string
	end    context.CancelFunc
}

// serve runs a request of a device, which ends when the device is revoked.
func (v *visitors) serve(w http.ResponseWriter, r *http.Request, d *pairing.Device, next http.Handler) {
	ctx, cancel := context.WithCancel(context.WithValue(r.Context(), deviceKey{}, d))
	defer cancel()
	running := &visit{d.ID, cancel}
	v.mu.Lock()
	v.visits[running] = struct{}{}
	v.mu.Unlock()
	defer func() {
		v.mu.Lock()
		defer v.mu.Unlock()
		delete(v.visits, running)
	}()
	next.ServeHTTP(w, r.WithContext(ctx))
}

// pairing opens a pairing for the user of this machine.
func (v *visitors) pairing(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		May []pairing.Scope `json:"may"`
	}
	if v.Far == nil {
		refuse(w, errNear)
		return
	}
	if err := readJSON(r, &asked); err != nil {
		refuse(w, err)
		return
	}
	code, ends := v.Exchange.Begin(asked.May)
	writeJSON(w, http.StatusCreated, pairing.Opened{Code: code, Address: v.Address + "/pair#" + code, Fingerprint: v.Fingerprint, Ends: ends})
}

var errNear = &refusal{http.StatusConflict, "this server listens on this machine alone: start adze serve --listen, or with the --name of a tunnel"}

// claimed tells the user of this machine which device wants in; 202 says that none does yet.
func (v *visitors) claimed(w http.ResponseWriter, r *http.Request) {
	if v.Far == nil {
		refuse(w, errNear)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), maxPatient)
	defer cancel()
	c, err := v.Exchange.Claimed(ctx)
	if err != nil {
		refuse(w, pairingError(err))
		return
	}
	writeJSON(w, http.StatusOK, c)
}

// decide is the answer of the user of this machine.
func (v *visitors) decide(w http.ResponseWriter, r *http.Request) {
	var answer struct {
		Allow bool `json:"allow"`
	}
	err := error(errNear)
	if v.Far != nil {
		if err = readJSON(r, &answer); err == nil {
			err = pairingError(v.Exchange.Decide(answer.Allow))
		}
	}
	if err != nil {
		refuse(w, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// unpair ends the pairing that is open.
func (v *visitors) unpair(w http.ResponseWriter, _ *http.Request) {
	if v.Far != nil {
		v.Exchange.End()
	}
	w.WriteHeader(http.StatusNoContent)
}

// claim is what a device sends first.
func (v *visitors) claim(w http.ResponseWriter, r *http.Request) {
	var c struct {
		Code string `json:"code"`
		Name string `json:"name"`
	}
	if err := readJSON(r, &c); err != nil {
		refuse(w, err)
		return
	}
	secret, word, err := v.Exchange.Claim(c.Code, c.Name)
	if err != nil {
		refuse(w, pairingError(err))
		return
	}
	writeJSON(w, http.StatusOK, map[string]string{"secret": secret, "word": word})
}

// collect gives a device its token when the user has confirmed it; 202 says that the user has not
// answered.
func (v *visitors) collect(w http.ResponseWriter, r *http.Request) {
	var c struct {
		Secret string `json:"secret"`
	}
	if err := readJSON(r, &c); err != nil {
		refuse(w, err)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), maxPatient)
	defer cancel()
	token, d, err := v.Exchange.Collect(ctx, c.Secret)
	if err != nil {
		refuse(w, pairingError(err))
		return
	}
	writeJSON(w, http.StatusOK, map[string]any{"token": token, "may": d.May})
}

// pairingError is one as its sender reads it.
func pairingError(err error) error {
	for is, code := range map[error]int{pairing.ErrWaiting: http.StatusAccepted, pairing.ErrClosed: http.StatusGone, pairing.ErrExpired: http.StatusGone,
		pairing.ErrUsed: http.StatusConflict, pairing.ErrWrong: http.StatusForbidden, pairing.ErrRefused: http.StatusForbidden, pairing.ErrLocked: http.StatusTooManyRequests} {
		if errors.Is(err, is) {
			return &refusal{code, is.Error()}
		}
	}
	return err
}

// maxSmall bounds a request that holds no prompt.
const maxSmall = 4 << 10

func readJSON(r *http.Request, into any) error {
	in := json.NewDecoder(http.MaxBytesReader(nil, r.Body, maxSmall))
	in.DisallowUnknownFields()
	if err := in.Decode(into); err != nil {
		return &refusal{http.StatusBadRequest, "the request cannot be read: " + jsontext.Problem(err)}
	}
	return nil
}

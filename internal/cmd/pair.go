package cmd

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"adze/internal/config/paths"
	"adze/internal/editors/pairing"
	"adze/internal/text/usage"
)

// Devices are the commands below adze serve that let devices in.
func Devices(e *Env) []*cobra.Command {
	return []*cobra.Command{pairCommand(e), devicesCommand(e)}
}

// pairCommand is adze serve pair.
func pairCommand(e *Env) *cobra.Command {
	var may []string
	c := &cobra.Command{Use: "pair", Short: "Let a phone or another device into adze serve", Args: Takes(0, 0),
		Long: `Shows a code for the camera of a phone, as a picture and as text. The device that opens it shows a word; say yes here only if it
shows the same. It then has a token of its own, which adze serve devices revoke takes away at once. A code is of use once, for five
minutes. adze serve must run with --listen, or with the --name of a tunnel.`,
		Example: "  adze serve pair\n  adze serve pair --may look,answer,prompt",
		RunE:    func(c *cobra.Command, _ []string) error { return pair(c.Context(), e, may) }}
	c.Flags().StringSliceVar(&may, "may", []string{string(pairing.Look), string(pairing.Answer)}, "what the device may do: `look,answer,prompt`; who answers may also stop a turn")
	return c
}

// devicesCommand is adze serve devices list|revoke.
func devicesCommand(e *Env) *cobra.Command {
	book := func() *pairing.Devices {
		return &pairing.Devices{Path: filepath.Join(paths.Of(e.Getenv).State, paths.Served, paths.Devices)}
	}
	list := &cobra.Command{Use: "list", Annotations: Anyone(), Short: "List the devices that are paired", Args: Takes(0, 0), Example: "  adze serve devices list",
		RunE: func(c *cobra.Command, _ []string) error {
			all, err := book().All()
			if err != nil {
				return err
			}
			return listDevices(e, all, Flagged(c, "json"))
		}}
	list.Flags().Bool("json", false, "as JSON, one object a line")
	revoke := &cobra.Command{Use: "revoke ID...", Short: "Take a device's token away; what it reads ends at once", Args: Takes(1, -1), Example: "  adze serve devices revoke 3fa9",
		RunE: func(_ *cobra.Command, ids []string) error {
			for _, id := range ids {
				d, err := book().Revoke(id)
				switch {
				case errors.Is(err, pairing.ErrNoDevice), errors.Is(err, pairing.ErrAmbiguous):
					return usage.Mistake("adze serve devices list", "%s: %v", id, err)
				case err != nil:
					return err
				}
				e.Show("revoked %s (%s)\n", d.ID, d.Name)
			}
			return nil
		}}
	return Group("devices", "List the devices that may use adze serve, and take their tokens away", list, revoke)
}

func listDevices(e *Env, all []pairing.Device, asJSON bool) error {
	t := e.Columns()
	for _, d := range all {
		if asJSON {
			e.ShowJSON(map[string]any{"id": d.ID, "name": d.Name, "may": d.May, "paired": d.Paired})
			continue
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", d.ID, d.Name, scopes(d.May), d.Paired.Local().Format("2006-01-02 15:04"))
	}
	if len(all) == 0 && !asJSON {
		e.Show("no device is paired\n")
	}
	return t.Flush()
}

func scopes(all []pairing.Scope) string {
	words := make([]string, len(all))
	for i, s := range all {
		words[i] = string(s)
	}
	return strings.Join(words, ",")
}

// pair opens a pairing in the server that runs and asks the user about the device that comes.
func pair(ctx context.Context, e *Env, words []string) error {
	may, err := scopesOf(words)
	if err != nil {
		return err
	}
	if !term.IsTerminal(e.In.Fd()) {
		return usage.Mistake("run adze serve pair in a terminal", "the user is asked whether a device may come in, and nobody is there to ask")
	}
	s, o, err := openPairing(ctx, e, may)
	if err != nil {
		return err
	}
	defer func() { _ = s.do(context.WithoutCancel(ctx), http.MethodDelete, "/api/pair", nil, nil) }() // it ends by itself, too
	code, err := pairing.QR(o.Address)
	if err != nil {
		return err
	}
	e.ShowPicture(code)
	e.Show("Open this on the device, with its camera or by hand, until %s:\n  %s\n", o.Ends.Local().Format("15:04"), o.Address)
	if o.Fingerprint != "" {
		e.Show("The browser warns of a certificate that it does not know. Go on only if its SHA-256 fingerprint is\n  %s\n", o.Fingerprint)
	}
	e.Show("The device may %s. Waiting for it; Ctrl-C ends this.\n", strings.Join(words, ", "))
	claim, err := s.claimed(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(e.Err, "%s wants in. Does it show the word %s? [y/N] ", claim.Name, claim.Word)
	line, _ := bufio.NewReader(e.In).ReadString('\n') // the end of the input is a no
	allow := slices.Contains([]string{"y", "yes"}, strings.ToLower(strings.TrimSpace(line)))
	if err := s.do(ctx, http.MethodPost, "/api/pair/decide", map[string]bool{"allow": allow}, nil); err != nil {
		return err
	}
	if !allow {
		e.Show("the device was refused\n")
		return nil
	}
	e.Show("paired; adze serve devices list shows it, adze serve devices revoke takes its token away\n")
	return nil
}

func scopesOf(words []string) (out []pairing.Scope, err error) {
	for _, w := range words {
		s := pairing.Scope(w)
		if !slices.Contains(pairing.Scopes(), s) {
			return nil, usage.Mistake("--may "+scopes(pairing.Scopes()), "--may %s: this is none of them", w)
		}
		out = append(out, s)
	}
	if !slices.Contains(out, pairing.Look) {
		return nil, usage.Mistake("add look", "--may: a device that sees nothing can do nothing")
	}
	return out, nil
}

// server is an adze serve that runs, as its user reaches it.
type server struct{ url, token string }

// openPairing asks each server of the user that runs, until one lets devices in.
func openPairing(ctx context.Context, e *Env, may []pairing.Scope) (server, pairing.Opened, error) {
	files, err := filepath.Glob(filepath.Join(paths.Of(e.Getenv).State, paths.Served, "*"))
	if err != nil {
		return server{}, pairing.Opened{}, err
	}
	var refused error
	for _, file := range files {
		raw, err := os.ReadFile(file)
		url, token, ok := strings.Cut(strings.TrimSpace(string(raw)), "/#")
		if err != nil || !ok {
			continue
		}
		e.Hide(token)
		s, o := server{url, token}, pairing.Opened{}
		switch err := s.do(ctx, http.MethodPost, "/api/pair", map[string]any{"may": may}, &o); {
		case err == nil:
			return s, o, nil
		case errors.As(err, new(*answered)):
			refused = err
		}
	}
	if refused == nil {
		return server{}, pairing.Opened{}, usage.Mistake("adze serve --listen :4443, in another terminal", "no adze serve is running")
	}
	return server{}, pairing.Opened{}, usage.Mistake("adze serve --listen :4443, or adze serve --name NAME behind a tunnel", "no adze serve that runs lets other devices in: %v", refused)
}

// answered is what a server refused a request with.
type answered struct {
	code int
	says string
}

func (a *answered) Error() string { return a.says }

// patient is for how long one request waits for a device.
const patient = time.Minute

// claimed waits for a device.
func (s server) claimed(ctx context.Context) (c pairing.Claim, err error) {
	for {
		var a *answered
		err = s.do(ctx, http.MethodGet, "/api/pair/claim", nil, &c)
		if !errors.As(err, &a) || a.code != http.StatusAccepted {
			return c, err
		}
	}
}

func (s server) do(ctx context.Context, method, path string, body, into any) error {
	ctx, cancel := context.WithTimeout(ctx, patient)
	defer cancel()
	raw, err := json.Marshal(body)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, method, s.url+path, bytes.NewReader(raw))
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+s.token)
	r.Header.Set("Content-Type", "application/json")
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(r) // no proxy: it is this machine
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	switch {
	case err != nil:
		return err
	case resp.StatusCode == http.StatusAccepted || resp.StatusCode >= 300:
		return &answered{resp.StatusCode, strings.TrimSpace(string(answer))}
	case into == nil:
		return nil
	}
	return json.Unmarshal(answer, into)
}

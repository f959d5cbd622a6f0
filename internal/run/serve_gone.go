package run

import (
	"errors"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"adze/internal/cmd"
	"adze/internal/text/usage"
)

// tunnel names the replacement for paired devices.
const tunnel = "a tunnel that you trust, such as ssh -L or tailscale serve, brings another device here: adze help remote"

// formerDevices returns the removed commands for paired devices, which explain the replacement for
// one release.
func formerDevices() (out []*cobra.Command) {
	for _, name := range []string{"pair", "devices"} {
		c := &cobra.Command{Use: name, Annotations: cmd.Anyone(), Short: "Gone", Args: cobra.ArbitraryArgs, FParseErrWhitelist: cobra.FParseErrWhitelist{UnknownFlags: true},
			RunE: func(*cobra.Command, []string) error {
				return usage.Mistake(tunnel, "adze serve %s is gone", name)
			}}
		out = append(out, c)
	}
	return cmd.Former(out...)
}

// withoutListening adds the removed flags that admitted devices over TLS.
func withoutListening(f *pflag.FlagSet) {
	for _, name := range []string{"listen", "cert", "key"} {
		f.Func(name, "", func(string) error { return errors.New("it is gone: " + tunnel) })
		_ = f.MarkHidden(name) // the flag exists
	}
}

package wire

import (
	"net/http"
	"os"
	"testing"
)

// A process reads the environment's proxy once. Tests talk only with this machine, and so need none.
func init() { _ = os.Setenv("HTTP_PROXY", "http://proxy.example:3128") }

// A proxy never sees the credentials of Amazon's and Google's machines and pods.
func TestCredentialsOfMachinesPassNoProxy(t *testing.T) {
	for address, want := range map[string]string{"http://169.254.170.2/c": "", "http://169.254.169.254/computeMetadata/v1/": "", "http://[fd00:ec2::23]/v1": "", "http://[fd00:ec2::254]/": "", "http://llm.example/v1": "proxy.example:3128"} {
		r, err := http.NewRequest(http.MethodGet, address, nil)
		if err != nil {
			t.Fatal(err)
		}
		at, err := proxy(r)
		if err != nil || at == nil && want != "" || at != nil && at.Host != want {
			t.Errorf("%s: %v, %v", address, at, err)
		}
	}
}

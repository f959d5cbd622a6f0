package natsclient

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// Durability is what could be proven of acknowledged writes surviving a power cut of all servers.
type Durability struct {
	Proven bool
	Why    string // one sentence
}

func (d Durability) String() string {
	if d.Proven {
		return "durability: proven: " + d.Why
	}
	return "durability: not proven: " + d.Why
}

// Durability asks the monitors that Options name whether each of as many servers as there are
// replicas writes through to its disk before it answers (sync_interval: always). Clients cannot see
// that in another way.
func (c *Conn) Durability(ctx context.Context) Durability {
	if c.options.Monitor == "" {
		return Durability{Why: "no monitor address is given (ADZE_NATS_MONITOR); the servers must run with sync_interval: always"}
	}
	sure := map[string]bool{}
	for address := range strings.SplitSeq(c.options.Monitor, ",") {
		v, err := variables(ctx, strings.TrimSpace(address))
		switch {
		case err != nil:
			return Durability{Why: fmt.Sprintf("%s: %v", address, err)}
		case v.ID != c.nc.ConnectedServerId() && (v.Cluster.Name == "" || v.Cluster.Name != c.nc.ConnectedClusterName()):
			return Durability{Why: address + " is the monitor of another server"}
		case !v.JetStream.Config.SyncAlways:
			return Durability{Why: fmt.Sprintf("%s acknowledges before its disk has it; set sync_interval: always in its jetstream block", v.Name)}
		}
		sure[v.ID] = true
	}
	if need := c.replicas(); len(sure) < need {
		return Durability{Why: fmt.Sprintf("%d of %d servers were asked; name the monitor of each", len(sure), need)}
	}
	return Durability{Proven: true, Why: fmt.Sprintf("%d of %d servers sync each write", len(sure), len(sure))}
}

// serverVariables is the part of /varz that matters here.
type serverVariables struct {
	ID      string `json:"server_id"`
	Name    string `json:"server_name"`
	Cluster struct {
		Name string `json:"name"`
	} `json:"cluster"`
	JetStream struct {
		Config struct {
			SyncAlways bool `json:"sync_always"`
		} `json:"config"`
	} `json:"jetstream"`
}

func variables(ctx context.Context, monitor string) (v serverVariables, err error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(monitor, "/")+"/varz", nil)
	if err != nil {
		return v, err
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Do(request)
	if err != nil {
		return v, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return v, fmt.Errorf("it answers %s", answer.Status)
	}
	return v, json.NewDecoder(io.LimitReader(answer.Body, 1<<20)).Decode(&v)
}

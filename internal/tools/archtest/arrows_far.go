package archtest

// far are rooms for who is not at this machine: operators and other workers.
func far() []Row {
	return []Row{
		{Package: "internal/telemetry", May: []string{"session", "tool", "internal/sessiondb/audit"}, Tests: []string{"internal/cmd/print"}, Why: "an observer of one event stream, for operators; it knows neither the wiring nor what is shown"},
		{Package: "internal/telemetry/metric", Room: true, Never: []string{"net", "net/*", "os"}, Why: "numbers and their text; who reads them, it does not know"},
		{Package: "internal/telemetry/trace", Room: true, Why: "spans and a collector; it knows no session"},
	}
}

package archtest

// far are rooms for who is not at this machine: operators.
func far() []Row {
	return []Row{
		{Package: "internal/telemetry", May: []string{"session", "tool", "internal/sessiondb/audit"}, Why: "an observer of one event stream, for operators; it knows neither the wiring nor what is shown"},
		{Package: "internal/telemetry/trace", Room: true, Why: "spans and a collector; it knows no session"},
	}
}

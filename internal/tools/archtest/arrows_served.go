package archtest

// served are the rooms that work through a server.
func served() []Row {
	return []Row{
		{Package: "internal/testkit/natstest", Room: true, Why: "a program as tests need it"},
	}
}

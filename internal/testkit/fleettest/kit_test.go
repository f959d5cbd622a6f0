package fleettest_test

import (
	"testing"

	"adze/internal/fleet"
	"adze/internal/testkit/fleettest"
)

func TestTheMemoryKeepsTheContracts(t *testing.T) {
	fleettest.Run(t, func(*testing.T) fleet.Cluster { return fleettest.NewMemory().Cluster() })
}

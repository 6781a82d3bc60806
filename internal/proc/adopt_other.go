//go:build unix && !linux

package proc

// adopt does nothing, because process 1 reaps on these systems.
func adopt() (disown func()) { return func() {} }

// noteOrphans does nothing, because process 1 reaps on these systems.
func noteOrphans([]stat) {}

//go:build !linux

package fake

// Survivors lists the live processes that have token as one of their arguments. It needs /proc: on this system the list
// is always empty.
func Survivors(string) []Survivor { return nil }

func killSurvivors(string) {}

// getsid returns 0: the standard library cannot tell the session here.
func getsid() int { return 0 }

package parallel

import "time"

// RunFor is Tests(m).Run with another timeout, for tests that run at the same time.
func RunFor(wait time.Duration, m Suite) int { return tests{m, wait, false}.Run() }

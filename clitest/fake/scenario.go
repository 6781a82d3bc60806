package fake

import "time"

// Scenario is what a fake does. The zero value exits at once with status 0, without reading or printing anything.
type Scenario struct {
	// Cases are alternatives to Steps; the first that applies is played.
	Cases []Case `json:"cases,omitempty"`
	// Steps are played in order if no case applies. After the last step the fake exits with status 0.
	Steps []Step `json:"steps,omitempty"`
}

// Case is one alternative of a scenario.
type Case struct {
	// Args must be the first arguments of the call, such as "--version" or "auth", "status". Empty applies to all calls.
	Args []string `json:"args,omitempty"`
	// Once makes the case apply to one call only, so that several such cases make a sequence of calls.
	Once bool `json:"once,omitempty"`
	// Steps are played in order, then the fake exits with status 0.
	Steps []Step `json:"steps,omitempty"`
}

// Step is one action of a fake: exactly one field is set, save for Chunk and Every, which refine Stdout and Stderr.
type Step struct {
	// Stdout and Stderr print text.
	Stdout string `json:"stdout,omitempty"`
	Stderr string `json:"stderr,omitempty"`
	// Chunk is the number of bytes in each write of Stdout or Stderr, 0 for all at once.
	Chunk int `json:"chunk,omitempty"`
	// Every is the pause between two chunks.
	Every time.Duration `json:"every,omitempty"`
	// FloodStdout and FloodStderr print that many bytes of lines of 100 bytes each.
	FloodStdout int64 `json:"flood_stdout,omitempty"`
	FloodStderr int64 `json:"flood_stderr,omitempty"`

	// Sleep does nothing for a while, Hang for ever, Await until there is a file of that name.
	Sleep time.Duration `json:"sleep,omitempty"`
	Hang  bool          `json:"hang,omitempty"`
	Await string        `json:"await,omitempty"`

	// ReadStdin reads standard input to its end, ReadLine one line of it. An answer to a prompt on standard input counts
	// only if all of it was read.
	ReadStdin bool `json:"read_stdin,omitempty"`
	ReadLine  bool `json:"read_line,omitempty"`
	// Echo prints what the latest ReadStdin or ReadLine has read.
	Echo bool `json:"echo,omitempty"`
	// EachLine reads standard input to its end and plays these steps after each line.
	EachLine []Step `json:"each_line,omitempty"`
	// CloseStdin and CloseStdout close the stream and go on.
	CloseStdin  bool `json:"close_stdin,omitempty"`
	CloseStdout bool `json:"close_stdout,omitempty"`

	// Ignore makes the fake ignore signals from now on, such as "INT" and "TERM".
	Ignore []string `json:"ignore,omitempty"`
	// ExitOn makes the fake exit with the given status when it gets one of these signals from now on.
	ExitOn map[string]int `json:"exit_on,omitempty"`
	// Spawn starts children.
	Spawn *Spawn `json:"spawn,omitempty"`
	// Open opens a file and prints "opened" or the error.
	Open string `json:"open,omitempty"`
	// Record reads the rest of standard input and writes a [Record] to the named file, or into the named folder, for
	// [ReadRecords].
	Record string `json:"record,omitempty"`

	// Exit ends the fake with a status. [Exit] makes the pointer.
	Exit *int `json:"exit,omitempty"`
	// Kill sends the fake itself a signal, such as "KILL", "SEGV" or "STOP".
	Kill string `json:"kill,omitempty"`
}

// Exit is the step that ends the fake with the given status.
func Exit(status int) Step { return Step{Exit: &status} }

// Spawn starts children: further processes of the same fake that play steps of their own. The step ends when the
// children have come to a step that waits or ends them, so that what a test sees afterwards does not depend on timing.
type Spawn struct {
	// Steps are what each child does; Self makes it do what its parent does instead, and is not waited for.
	Steps []Step `json:"steps,omitempty"`
	Self  bool   `json:"self,omitempty"`
	// Count is the number of children, 0 for one.
	Count int `json:"count,omitempty"`
	// Args are further arguments of each child, as they can be seen from outside.
	Args []string `json:"args,omitempty"`

	// Setsid gives each child a session of its own, Setpgid a process group of its own.
	Setsid  bool `json:"setsid,omitempty"`
	Setpgid bool `json:"setpgid,omitempty"`
	// Daemon forks twice and starts a session, so that the child is no descendant of the fake.
	Daemon bool `json:"daemon,omitempty"`
	// HoldStdout lets the children inherit standard output and error; otherwise they have /dev/null.
	HoldStdout bool `json:"hold_stdout,omitempty"`
	// ClearEnv starts the children with an empty environment.
	ClearEnv bool `json:"clear_env,omitempty"`

	// Wait ends the step only when all children have ended.
	Wait bool `json:"wait,omitempty"`
	// Respawn replaces each child that ends, for as long as the fake lives.
	Respawn bool `json:"respawn,omitempty"`
}

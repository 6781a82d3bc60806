package fake

import "time"

// Scenario describes the actions of a fake. With the zero value, the fake exits immediately with code 0 and neither
// reads nor prints anything.
type Scenario struct {
	// Cases are alternatives to Steps. The fake plays the first case that applies.
	Cases []Case `json:"cases,omitempty"`
	// Steps are the actions if no case applies, in order. After the last step the fake exits with code 0.
	Steps []Step `json:"steps,omitempty"`
}

// Case is one alternative of a scenario.
type Case struct {
	// Args must be the first arguments of the call, such as "--version" or "auth", "status". Empty Args apply to all
	// calls.
	Args []string `json:"args,omitempty"`
	// Once makes the case apply to only one call. Several such cases describe a sequence of calls.
	Once bool `json:"once,omitempty"`
	// Steps are the actions, in order. After the last step the fake exits with code 0.
	Steps []Step `json:"steps,omitempty"`
}

// Step is one action of a fake. Set exactly one field. Chunk and Every are exceptions: they refine Stdout and Stderr.
type Step struct {
	// Stdout and Stderr print text.
	Stdout string `json:"stdout,omitempty"`
	Stderr string `json:"stderr,omitempty"`
	// Chunk is the number of bytes in each write of Stdout or Stderr, 0 for all at once.
	Chunk int `json:"chunk,omitempty"`
	// Every is the pause between two chunks.
	Every time.Duration `json:"every,omitempty"`
	// FloodStdout and FloodStderr print the given number of bytes, in lines of 100 bytes.
	FloodStdout int64 `json:"flood_stdout,omitempty"`
	FloodStderr int64 `json:"flood_stderr,omitempty"`

	// Sleep waits for a duration, Hang waits forever, and Await waits until a file of that name exists.
	Sleep time.Duration `json:"sleep,omitempty"`
	Hang  bool          `json:"hang,omitempty"`
	Await string        `json:"await,omitempty"`

	// ReadStdin reads standard input to its end. ReadLine reads one line. The library accepts an answer to a prompt on
	// standard input only if the CLI has read the whole input.
	ReadStdin bool `json:"read_stdin,omitempty"`
	ReadLine  bool `json:"read_line,omitempty"`
	// Echo prints the input of the latest ReadStdin or ReadLine.
	Echo bool `json:"echo,omitempty"`
	// EachLine reads standard input to its end and plays these steps after each line.
	EachLine []Step `json:"each_line,omitempty"`
	// CloseStdin and CloseStdout close the stream; the fake continues.
	CloseStdin  bool `json:"close_stdin,omitempty"`
	CloseStdout bool `json:"close_stdout,omitempty"`

	// Ignore makes the fake ignore the named signals from this step on, such as "INT" and "TERM".
	Ignore []string `json:"ignore,omitempty"`
	// ExitOn makes the fake exit with the given code when it receives one of these signals after this step.
	ExitOn map[string]int `json:"exit_on,omitempty"`
	// Spawn starts children.
	Spawn *Spawn `json:"spawn,omitempty"`
	// Open opens a file and prints "opened" or the error.
	Open string `json:"open,omitempty"`
	// Write writes files, by name. A relative name is relative to the working directory. An empty content removes the
	// file.
	Write map[string]string `json:"write,omitempty"`
	// Record reads the rest of standard input and writes a [Record] to the named file, or to a new file in the named
	// directory, for [ReadRecords].
	Record string `json:"record,omitempty"`

	// Exit ends the fake with an exit code. The function [Exit] returns such a step.
	Exit *int `json:"exit,omitempty"`
	// Kill sends a signal to the fake itself, such as "KILL", "SEGV" or "STOP".
	Kill string `json:"kill,omitempty"`
}

// Exit returns the step that ends the fake with the given exit code.
func Exit(status int) Step { return Step{Exit: &status} }

// Spawn starts children: processes of the same fake with their own steps. The step ends when each child has reached a
// step that waits or exits, so that a test does not depend on timing.
type Spawn struct {
	// Steps are the actions of each child. With Self, a child plays the steps of its parent, and the parent does not
	// wait for it to become ready.
	Steps []Step `json:"steps,omitempty"`
	Self  bool   `json:"self,omitempty"`
	// Count is the number of children, 0 for one.
	Count int `json:"count,omitempty"`
	// Args are additional arguments of each child, visible in process lists.
	Args []string `json:"args,omitempty"`

	// Setsid gives each child its own session. Setpgid gives it its own process group.
	Setsid  bool `json:"setsid,omitempty"`
	Setpgid bool `json:"setpgid,omitempty"`
	// Daemon forks twice and starts a session, so that the child is not a descendant of the fake.
	Daemon bool `json:"daemon,omitempty"`
	// HoldStdout lets the children inherit standard output and error. Otherwise they use /dev/null.
	HoldStdout bool `json:"hold_stdout,omitempty"`
	// ClearEnv starts the children with an empty environment.
	ClearEnv bool `json:"clear_env,omitempty"`

	// Wait ends the step only after all children have ended.
	Wait bool `json:"wait,omitempty"`
	// Respawn replaces each child that ends while the fake runs.
	Respawn bool `json:"respawn,omitempty"`
}

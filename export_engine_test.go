package clichain

// DocumentObjects are the objects of the JSON document in a text.
func DocumentObjects(text string) (raw []string) {
	for _, object := range documentObjects([]byte(text)) {
		raw = append(raw, object.Get("@this|@ugly").Raw)
	}
	return raw
}

// PolicyReasons are the Reasons of the decision table.
func PolicyReasons() (list []Reason) {
	for r := range policy {
		list = append(list, r)
	}
	return list
}

// ReasonOfSentinel is the Reason of a sentinel error, "" for any other error.
func ReasonOfSentinel(err error) Reason {
	s, _ := err.(sentinel)
	return Reason(s)
}

// MaxDepth is the deepest nesting that is read.
const MaxDepth = maxDepth

// The pure functions behind the exported API.
var (
	CheckRequest   = checkRequest
	PromptText     = promptText
	SystemText     = systemText
	StripFence     = stripFence
	ReasonOfStatus = reasonOfStatus
	OneLine        = oneLine
	ResetTime      = resetTime
)

// Literals is what a pattern's matches are searched for first.
func Literals(pattern string) []string { return literals(pattern) }

// LineMatcher is one of the rules common to all specs.
type LineMatcher struct{ compiledLine }

// CommonLines are the rules common to all specs.
func CommonLines() (rules []LineMatcher) {
	for _, line := range commonLines {
		rules = append(rules, LineMatcher{line})
	}
	return rules
}

func (m LineMatcher) MayMatch(lower string) bool { return m.mayMatch(lower) }
func (m LineMatcher) Matches(text string) bool   { return m.re.MatchString(text) }

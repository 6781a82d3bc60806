package clispec

// What an absent table of a spec means.

// OutputModes are the output modes that the CLI has, best first.
func (s *Spec) OutputModes() []OutputMode { return orDefault(s.Outputs, OutputText) }

// TransportModes are the ways its prompt can travel, best first.
func (s *Spec) TransportModes() []Transport { return orDefault(s.Transports, TransportArgv) }

func orDefault[T any](list []T, absent T) []T {
	if len(list) == 0 {
		return []T{absent}
	}
	return list
}

// ArgTable is the spec's argument table, or that of its prompt style.
func (s *Spec) ArgTable() []ArgRow {
	if len(s.Args) > 0 {
		return s.Args
	}
	var rows []ArgRow
	if s.PromptStyle == RunSubcommand {
		rows = append(rows, ArgRow{Args: []string{"run"}})
	}
	if s.SystemFlag != "" {
		rows = append(rows, ArgRow{Args: []string{s.SystemFlag, "{system}"}, When: When{Set: []string{"system"}}})
	}
	rows = append(rows, ArgRow{Args: []string{"--model", "{model}"}, When: When{Set: []string{"model"}}}, ArgRow{Args: []string{"{extra}"}, Each: "extra"})
	if s.PromptStyle == RunSubcommand {
		return append(rows, ArgRow{Args: []string{"{prompt}"}})
	}
	return append(rows, ArgRow{Args: []string{"-p", "{prompt}"}})
}

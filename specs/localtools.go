package specs

import (
	"cmp"
	"strings"

	"github.com/clichain/clichain/clispec"
)

// localTools lists the tools of the built-in CLIs that change nothing outside the working directory, except by the
// commands that they run. Events have these names. Tools that start agents whose tools are not reported are missing.
var localTools = map[string]string{
	"claude": "Agent,AskUserQuestion,Bash,BashOutput,Edit,EnterPlanMode,ExitPlanMode,Glob,Grep,KillBash," +
		"KillShell,LS,LSP,MultiEdit,NotebookEdit,Read,Skill,SlashCommand,StructuredOutput,Task," +
		"TaskCreate,TaskGet,TaskList,TaskOutput,TaskStop,TaskUpdate,TodoRead,TodoWrite,ToolSearch," +
		"WebFetch,WebSearch,Write",
	"gemini": "codebase_investigator,enter_plan_mode,exit_plan_mode,glob,google_web_search,grep_search," +
		"list_directory,read_file,read_many_files,replace,run_shell_command,search_file_content," +
		"web_fetch,write_file,write_todos",
	"cursor-agent": "deleteToolCall,editToolCall,globToolCall,grepToolCall,lsToolCall,readLintsToolCall,readToolCall," +
		"semSearchToolCall,shellToolCall,todoToolCall,updateTodosToolCall,writeToolCall",
	"opencode": openCodeTools,
	"codex":    "commandExecution,command_execution,fileChange,file_change,webSearch,web_search",
	"copilot": "apply_patch,bash,create,edit,glob,grep,list_bash,read_bash,report_intent,rg,stop_bash," +
		"str_replace_editor,update_todo,view,web_fetch,write_bash",
	"kimi": "Bash,Edit,FetchURL,Glob,Grep,Read,ReadFile,ReadMediaFile,SearchWeb,SetTodoList,Shell," +
		"StrReplaceFile,Think,TodoList,Write,WriteFile",
	"pi":   "bash,edit,find,grep,ls,read,write",
	"kilo": openCodeTools,
	"cline": "apply_patch,ask_question,editor,fetch_web_content,read_files,run_commands,search_codebase," +
		"skills,submit_and_exit",
	"qwen": "edit,exit_plan_mode,glob,grep_search,list_directory,read_file,read_many_files,run_shell_command," +
		"todo_write,web_fetch,write_file",
	"agy": "codebase_search,command_status,find_by_name,grep_search,list_dir,multi_replace_file_content," +
		"replace_file_content,run_command,view_file,write_to_file",
}

// openCodeTools are the tools of opencode and of kilo, which is derived from it. The tool "invalid" is a failed call.
const openCodeTools = "apply_patch,bash,codesearch,edit,glob,grep,invalid,list,lsp,multiedit,patch,question,read," +
	"skill,task,todoread,todowrite,webfetch,websearch,write"

// LocalTools returns the names of the tools of a built-in CLI that change nothing outside the working directory, except
// by the commands that they run. No tool of an MCP server is one of them. The list is empty for any other spec.
func LocalTools(spec clispec.Spec) []string {
	return strings.FieldsFunc(localTools[cmp.Or(spec.InstanceOf, spec.Name)], func(r rune) bool { return r == ',' })
}

// ProjectFiles returns the names of files in git's directory by which built-in CLIs identify a project. The CLIs create
// them, and use the first commit without them. The caller may modify the slice.
func ProjectFiles() []string { return []string{"opencode", "kilo"} }

-- SPDX-License-Identifier: MIT
-- What Neovim 0.7's own client makes of the server, as TAP. Run by lsp-clients.t:
--   nvim --headless -u NONE -c 'luafile tests/lsp_nvim.lua'   with GRAPHLINT naming the program
local program = os.getenv("GRAPHLINT") or "build/graphlint"
local sample = "samples/bigbird/bigbird.aot_eager.log"
local tests = 0
local patience = 60000

local function ok(good, what, why)
  tests = tests + 1
  io.stdout:write(string.format("%s %d - nvim: %s\n", good and "ok" or "not ok", tests, what))
  if not good then
    io.stdout:write("# " .. vim.inspect(why):sub(1, 1500):gsub("\n", "\n# ") .. "\n")
  end
end

-- The line (from 0) and column of a marker in the first line, from `after` on, that has both.
local function place(lines, marker, within, after)
  for i = (after or 0) + 1, #lines do
    local at = lines[i]:find(marker, 1, true)
    if at and (not within or lines[i]:find(within, 1, true)) then
      return i - 1, at - 1
    end
  end
  error("no " .. marker)
end

local function run()
  vim.cmd("edit " .. sample)
  local buf = vim.api.nvim_get_current_buf()
  local lines = vim.api.nvim_buf_get_lines(buf, 0, -1, false)
  local id = vim.lsp.start_client({
    name = "graphlint",
    cmd = { program, "lsp" },
    root_dir = vim.fn.getcwd(),
    init_options = { contract = "fresh" },
  })
  vim.lsp.buf_attach_client(buf, id)

  local function errors()
    return vim.tbl_filter(function(d)
      return d.severity == vim.diagnostic.severity.ERROR and d.code == "GL101"
    end, vim.diagnostic.get(buf))
  end
  vim.wait(patience, function() return #errors() > 0 end)
  ok(#errors() == 1, "the founding case is shown as an error", vim.diagnostic.get(buf))
  ok(errors()[1] and lines[errors()[1].lnum + 1]:find(".view(", 1, true), "on the line that makes the alias", errors())

  local function ask(method, line, column, more)
    local params = vim.tbl_extend("force", {
      textDocument = vim.lsp.util.make_text_document_params(buf),
      position = { line = line, character = column },
    }, more or {})
    local answer = vim.lsp.buf_request_sync(buf, method, params, patience)
    return answer and answer[id] and answer[id].result
  end

  local header = place(lines, "===== __compiled_fn_6 =====")
  local line, column = place(lines, ".view(1, 64", "contiguous.", header)
  local hover = ask("textDocument/hover", line, column + 1)
  ok(hover and hover.contents.value:find("view"), "hover", hover)
  line, column = place(lines, "__compiled_fn_6", "LOAD_GLOBAL")
  vim.api.nvim_win_set_cursor(0, { line + 1, column })
  vim.lsp.buf.definition()
  vim.wait(patience, function() return vim.api.nvim_win_get_cursor(0)[1] ~= line + 1 end)
  ok(vim.api.nvim_win_get_cursor(0)[1] == header + 1, "gd in the bytecode goes to the graph", vim.api.nvim_win_get_cursor(0))
  local uses = ask("textDocument/references", header, lines[header + 1]:find("__compiled", 1, true),
    { context = { includeDeclaration = true } })
  ok(uses and #uses >= 2, "references", uses)
  local symbols = ask("textDocument/documentSymbol", 0, 0)
  ok(symbols and #vim.lsp.util.symbols_to_items(symbols, buf) > 20, "document symbols", symbols)
  local d = errors()[1]
  local actions = ask("textDocument/codeAction", d.lnum, d.col, {
    range = { start = { line = d.lnum, character = d.col }, ["end"] = { line = d.end_lnum, character = d.end_col } },
    context = { diagnostics = {} },
  })
  local edit
  for _, a in ipairs(actions or {}) do
    edit = edit or (a.edit and a)
  end
  ok(edit ~= nil, "actions", actions)
  vim.lsp.util.apply_workspace_edit(edit.edit, "utf-16")
  ok(vim.api.nvim_buf_get_lines(buf, d.lnum, d.lnum + 1, false)[1]:find("graphlint: ignore[GL101]", 1, true),
    "an action changes the text", vim.api.nvim_buf_get_lines(buf, d.lnum, d.lnum + 1, false))
  vim.wait(patience, function() return #errors() == 0 end)
  ok(#errors() == 0, "and the finding is gone", errors())

  line = place(lines, ".view(1, 64", "contiguous.", header)
  local old = vim.api.nvim_buf_get_lines(buf, line, line + 1, false)[1]
  vim.api.nvim_buf_set_lines(buf, line, line + 1, false, { (old:gsub("  # graphlint.*", "")) })
  vim.wait(patience, function() return #errors() == 1 end)
  ok(#errors() == 1, "text that changes is analysed again", vim.diagnostic.get(buf))
  vim.lsp.stop_client(id)
  vim.wait(patience, function() return vim.lsp.client_is_stopped(id) end)
  ok(vim.lsp.client_is_stopped(id), "the server ends when it is told to")
end

local fine, why = pcall(run)
if not fine then
  ok(false, "the script runs to its end", why)
end
io.stdout:write("1.." .. tests .. "\n")
vim.cmd("qa!")

-- What `eifel analyze` finds in the open file, as fields of Wireshark and tshark: eifel.verdict and
-- others. `eifel wireshark install` writes this file. It needs Wireshark 3 or newer, with Lua.

local COMMAND = @COMMAND@
-- By eifel's verdict and Wireshark's word: what Wireshark's word means beside it.
local WHY = @WHY@
-- Wireshark's fields in order of precedence, and the word for each.
local FLAGS = @FLAGS@

local eifel = Proto("eifel", "Eifel: was this retransmission needed?")
local fields = {
  verdict = ProtoField.string("eifel.verdict", "Verdict"),
  confidence = ProtoField.string("eifel.confidence", "Confidence"),
  reason = ProtoField.string("eifel.reason", "Reason"),
  evidence_frame = ProtoField.framenum("eifel.evidence_frame", "Evidence in frame", base.NONE),
  cause = ProtoField.string("eifel.cause", "Cause"),
  other_cause = ProtoField.string("eifel.other_cause", "Other possible cause"),
  copy = ProtoField.uint32("eifel.copy", "Transmission of this data"),
  stack_noticed = ProtoField.string("eifel.stack_noticed", "The sender undid its reaction"),
}
local ORDER =
  { "verdict", "confidence", "reason", "evidence_frame", "cause", "other_cause", "copy", "stack_noticed" }
local experts = {
  spurious = ProtoExpert.new("eifel.spurious", "Spurious retransmission", expert.group.SEQUENCE, expert.severity.WARN),
  needed = ProtoExpert.new("eifel.needed", "Needed retransmission", expert.group.SEQUENCE, expert.severity.NOTE),
  differs = ProtoExpert.new("eifel.differs", "Wireshark says otherwise", expert.group.SEQUENCE, expert.severity.CHAT),
  failed = ProtoExpert.new("eifel.failed", "No analysis", expert.group.PROTOCOL, expert.severity.ERROR),
}
eifel.fields = { fields.verdict, fields.confidence, fields.reason, fields.evidence_frame, fields.cause,
  fields.other_cause, fields.copy, fields.stack_noticed }
eifel.experts = { experts.spurious, experts.needed, experts.differs, experts.failed }

local flags = {}
for _, flag in ipairs(FLAGS) do
  -- Older versions lack some.
  local known, field = pcall(Field.new, flag[1])
  if known then flags[#flags + 1] = { field, flag[2] } end
end

-- By frame number, the rows that were found. A packet of SCTP can repeat several chunks.
local found = {}
local failure = nil

-- Reads the findings: lines of fields, with tabs between, in ORDER after the frame number.
function eifel.init()
  found, failure = {}, nil
  local lines = io.popen(COMMAND .. " wireshark findings 2>&1")
  if lines == nil then
    failure = "the command of eifel cannot be run: " .. COMMAND
    return
  end
  for line in lines:lines() do
    local row = {}
    for cell in (line .. "\t"):gmatch("([^\t]*)\t") do row[#row + 1] = cell end
    local frame = tonumber(row[1])
    if frame ~= nil and #row == #ORDER + 1 then
      found[frame] = found[frame] or {}
      table.insert(found[frame], row)
    elseif line:sub(1, 7) == "eifel: " then
      failure = line:sub(8)
    end
  end
  lines:close()
end

-- Returns Wireshark's word for a frame; "-" if it has none.
local function word()
  for _, flag in ipairs(flags) do
    if flag[1]() ~= nil then return flag[2] end
  end
  return "-"
end

-- Returns what explains a difference, and whether there is one.
local function difference(verdict)
  local theirs = word()
  local why = WHY[verdict .. " " .. theirs] or (theirs ~= "-" and WHY[verdict .. " "])
  local same = not why or why:sub(1, 4) == "both"
  return why, not same
end

function eifel.dissector(buffer, pinfo, tree)
  if failure ~= nil then
    -- Once is enough.
    if pinfo.number == 1 then tree:add(eifel):add_proto_expert_info(experts.failed, failure) end
    return
  end
  local rows = found[pinfo.number]
  if rows == nil then
    local why, differs = difference("-")
    if differs then tree:add(eifel):add_proto_expert_info(experts.differs, "Not a retransmission: " .. why) end
    return
  end
  for _, row in ipairs(rows) do
    local verdict = row[2]
    local branch = tree:add(eifel)
    branch:append_text(" " .. verdict .. ", " .. row[3] .. ": " .. row[4])
    for place, name in ipairs(ORDER) do
      local cell = row[place + 1]
      if cell ~= "" then branch:add(fields[name], tonumber(cell) or cell):set_generated() end
    end
    local expert = experts[verdict]
    if expert ~= nil then branch:add_proto_expert_info(expert, verdict .. ", " .. row[3] .. ": " .. row[4]) end
    local why, differs = difference(verdict)
    if differs then branch:add_proto_expert_info(experts.differs, why) end
  end
end

register_postdissector(eifel)

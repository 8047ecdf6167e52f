# PowerShell completion for filings, for PowerShell 5.1 and later. 'filings __complete' decides what is offered and quotes it.

Register-ArgumentCompleter -Native -CommandName filings -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $exitCode = $global:LASTEXITCODE
    try {
        $words = @(foreach ($element in $commandAst.CommandElements) {
            $extent = $element.Extent
            if ($extent.EndOffset -gt $cursorPosition) {
                if ($extent.StartOffset -lt $cursorPosition) { $extent.Text.Substring(0, $cursorPosition - $extent.StartOffset).Trim("'", '"') }
            }
            elseif ($element -is [System.Management.Automation.Language.StringConstantExpressionAst]) { $element.Value }
            else { $extent.Text }
        })
        # The cursor is after a space: the current word is empty.
        if ("$wordToComplete" -eq '') { $words += '' }
        # One argument, because some versions leave out empty ones.
        $reply = & filings __complete powershell ($words -join "`t") 2>$null | Out-String | ConvertFrom-Json
        # Without any result PowerShell completes paths.
        if ($reply.kind -eq 'words' -and $reply.words.Count -eq 0) { '' }
        foreach ($one in $reply.words) {
            [System.Management.Automation.CompletionResult]::new($one.word, $one.text, 'ParameterValue', $one.help)
        }
    }
    catch { }
    finally { $global:LASTEXITCODE = $exitCode }
}

# PowerShell completion for filings. Where 'filings __complete' prints nothing, PowerShell offers paths.
Register-ArgumentCompleter -Native -CommandName filings -ScriptBlock {
    param($word, $ast, $cursor)
    $before = @($ast.CommandElements | Select-Object -Skip 1 | Where-Object { $_.Extent.EndOffset -lt $cursor } |
        ForEach-Object { if ($null -ne $_.Value) { "$($_.Value)" } else { "$_" } })
    & filings __complete @before $word.Trim("'", '"') 2>$null | ForEach-Object {
        $text, $help = $_ -split "`t"
        if (-not $help) { $help = $text }
        $shown = if ($text -match '^[\w.,/=-]+$') { $text } else { "'" + $text.Replace("'", "''") + "'" }
        [System.Management.Automation.CompletionResult]::new($shown, $text, 'ParameterValue', $help)
    }
}

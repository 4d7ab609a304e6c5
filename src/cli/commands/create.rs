//! `create`.

use crate::cli::args::{CreateArgs, ResourceArg, ScopeArg};
use crate::cli::{App, exit, render};
use crate::error::Result;
use crate::install::scope::ScopeKind;
use crate::ops::create::{BUILTIN, CreateRequest, Resource, create};

pub(super) fn run(app: &App, args: &CreateArgs) -> Result<u8> {
    if args.list_templates {
        render::create::templates(&app.printer, BUILTIN);
        return Ok(exit::SUCCESS);
    }
    let outcome = create(&app.context, &request(args))?;
    render::create::show(&app.printer, &outcome, &app.context.settings.cwd);
    Ok(exit::SUCCESS)
}

fn request(args: &CreateArgs) -> CreateRequest {
    CreateRequest {
        name: args.name.clone(),
        description: args.description.clone(),
        license: args.license.clone(),
        author: args.author.clone(),
        template: args.template.clone(),
        variables: args.variables.iter().cloned().collect(),
        resources: args.resources.iter().copied().map(resource).collect(),
        scope: args.scope.map(|scope| match scope {
            ScopeArg::Project => ScopeKind::Project,
            ScopeArg::User => ScopeKind::User,
        }),
        parent: args.path.clone(),
        dry_run: args.dry_run,
    }
}

fn resource(arg: ResourceArg) -> Resource {
    match arg {
        ResourceArg::Scripts => Resource::Scripts,
        ResourceArg::References => Resource::References,
        ResourceArg::Assets => Resource::Assets,
    }
}
